"""MaskablePPO against an agent of the suite: python docs/examples/sb3_opponents.py 1000000 model.zip"""

import sys

import torch
from sb3_contrib import MaskablePPO

from siberia_env.sb3 import make_vec_env

decisions, model = int(sys.argv[1]), sys.argv[2]
games = make_vec_env("siberia/Card-v0", n_envs=256, seed=1, env_kwargs={"opponents": ["greedy"], "reward": "margin"})
network = {"net_arch": [128, 128], "activation_fn": torch.nn.ReLU}
options = {"n_steps": 64, "batch_size": 2048, "n_epochs": 3, "gamma": 1.0, "gae_lambda": 0.98, "ent_coef": 0.01}
options |= {"learning_rate": lambda left: 3e-3 * max(left, 0.05), "vf_coef": 0.25, "seed": 1, "device": "cpu"}
learner = MaskablePPO("MlpPolicy", games, policy_kwargs=network, verbose=1, **options)
learner.learn(decisions)
learner.save(model)

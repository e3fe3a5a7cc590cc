"""MaskablePPO by self-play, booked by seat: python docs/examples/sb3_self_play.py 1500000 model.zip"""

import sys

import torch

from siberia_env import vector
from siberia_env.sb3 import SelfPlayVecEnv
from siberia_experiments.training.sb3_ppo import SelfPlayPPO

decisions, model = int(sys.argv[1]), sys.argv[2]
games = SelfPlayVecEnv(vector.make("card", num_envs=512, seed=1, reward="margin"))
network = {"net_arch": [128, 128], "activation_fn": torch.nn.ReLU}
options = {"n_steps": 64, "batch_size": 2048, "n_epochs": 3, "gamma": 1.0, "ent_coef": 0.02, "vf_coef": 0.25}
options |= {"learning_rate": lambda left: 3e-3 * max(left, 0.05), "seed": 1, "device": "cpu"}
learner = SelfPlayPPO("MlpPolicy", games, shaped=True, policy_kwargs=network, verbose=1, **options)
learner.learn(decisions)
learner.save(model)

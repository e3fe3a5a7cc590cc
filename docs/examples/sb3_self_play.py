"""MaskablePPO by self-play, booked by seat: python docs/examples/sb3_self_play.py 1500000 model.zip [SEED]"""

import sys

import torch

from siberia_env import vector
from siberia_env.sb3 import SelfPlayVecEnv
from siberia_experiments.training.sb3_ppo import SelfPlayPPO

decisions, model = int(sys.argv[1]), sys.argv[2]
seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
games = SelfPlayVecEnv(vector.make("card", num_envs=512, seed=seed, reward="margin"))
network = {"net_arch": [128, 128], "activation_fn": torch.nn.ReLU}
options = {"n_steps": 64, "batch_size": 2048, "n_epochs": 3, "gamma": 1.0, "ent_coef": 0.02, "vf_coef": 0.25}
options |= {"learning_rate": lambda left: 3e-3 * max(left, 0.05), "seed": seed, "device": "cpu"}
learner = SelfPlayPPO("MlpPolicy", games, shaped=True, policy_kwargs=network, verbose=1, **options)
learner.learn(decisions)
learner.save(model)

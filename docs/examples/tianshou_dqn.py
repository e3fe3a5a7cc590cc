"""DQN of Tianshou with masks: python docs/examples/tianshou_dqn.py 200000 model.npz"""

import sys

import gymnasium as gym
from gymnasium.wrappers import TransformObservation
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

from siberia_experiments.training.export import save_policy

names = {"obs": "observation", "mask": "action_mask"}  # what Tianshou calls them
make = lambda: gym.make("siberia_env:siberia/Card-v0", reward="margin")
space = gym.spaces.Dict({name: make().observation_space[own] for name, own in names.items()})
renamed = lambda seen: {name: seen[own] for name, own in names.items()}
games = DummyVectorEnv([lambda: TransformObservation(make(), renamed, space)] * 32)
net = Net(state_shape=space["obs"].shape, action_shape=int(make().action_space.n), hidden_sizes=[128])
policy = DiscreteQLearningPolicy(model=net, action_space=make().action_space, eps_training=0.1)
learner = DQN(policy=policy, optim=AdamOptimizerFactory(1e-3), n_step_return_horizon=20, target_update_freq=500)
collector = Collector(learner, games, VectorReplayBuffer(100_000, 32), exploration_noise=True)
times = {"max_epochs": 1, "epoch_num_steps": int(sys.argv[1]), "collection_step_num_env_steps": 1024}
often = {"batch_size": 256, "update_step_num_gradient_steps_per_sample": 0.1}
learner.run_training(OffPolicyTrainerParams(training_collector=collector, **times, **often))
save_policy(net, sys.argv[2])

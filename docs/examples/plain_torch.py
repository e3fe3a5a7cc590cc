"""A policy gradient in plain PyTorch: python docs/examples/plain_torch.py 400000 model.npz"""

import sys

import gymnasium
import torch
from torch import nn

from siberia_experiments.training.export import save_policy

games = gymnasium.make_vec("siberia_env:siberia/Card-v0", num_envs=64, reward="margin", autoreset_mode="SameStep")
inputs, actions = games.single_observation_space["observation"].shape[0], int(games.single_action_space.n)
policy, value = (nn.Sequential(nn.Linear(inputs, 128), nn.ReLU(), nn.Linear(128, size)) for size in (actions, 1))
optimizer, seen = torch.optim.Adam([*policy.parameters(), *value.parameters()], 2e-3), games.reset(seed=1)[0]
for _ in range(int(sys.argv[1]) // (64 * 16)):
    steps, losses = [], []
    for _ in range(16):
        observation, mask = torch.from_numpy(seen["observation"]), torch.from_numpy(seen["action_mask"])
        choice = torch.distributions.Categorical(logits=policy(observation).masked_fill(mask == 0, -1e9))
        seen, reward, over, _, _ = games.step((action := choice.sample()).numpy())
        steps.append((choice.log_prob(action), choice.entropy(), value(observation)[:, 0], reward, over))
    to_come = value(torch.from_numpy(seen["observation"])).detach()[:, 0]
    for likelihood, entropy, expected, reward, over in reversed(steps):
        gain = (to_come := torch.from_numpy(reward).float() + to_come * ~torch.from_numpy(over)) - expected
        losses.append((gain**2 - gain.detach() * likelihood - 0.01 * entropy).mean())
    optimizer.zero_grad()
    torch.stack(losses).mean().backward()
    optimizer.step()
save_policy(policy, sys.argv[2])

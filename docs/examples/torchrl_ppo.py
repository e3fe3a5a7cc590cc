"""PPO of TorchRL over a batch of games: python docs/examples/torchrl_ppo.py 102400 model.npz"""

import sys

import gymnasium
import torch
from tensordict.nn import TensorDictModule, TensorDictSequential
from torchrl.collectors import Collector
from torchrl.envs import GymWrapper
from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss, value

from siberia_experiments.training.export import save_policy

games = gymnasium.make_vec("siberia_env:siberia/Card-v0", num_envs=64, reward="margin", autoreset_mode="Disabled")
inputs, actions = games.single_observation_space["observation"].shape[0], int(games.single_action_space.n)
policy, values = (MLP(inputs, size, num_cells=[128], activation_class=torch.nn.ReLU) for size in (actions, 1))
legal = TensorDictModule(lambda mask: mask > 0, ["action_mask"], ["mask"])
choice = TensorDictSequential(TensorDictModule(policy, ["observation"], ["logits"]), legal)
actor = ProbabilisticActor(choice, ["logits", "mask"], distribution_class=MaskedCategorical, return_log_prob=True)
loss = ClipPPOLoss(actor, critic := ValueOperator(values, ["observation"]), entropy_coeff=0.01)
advantage, optimizer = value.GAE(gamma=1, lmbda=0.95, value_network=critic), torch.optim.Adam(loss.parameters(), 1e-3)
wrapped = GymWrapper(games, categorical_action_encoding=True)
for data in Collector(wrapped, actor, frames_per_batch=64 * 64, total_frames=int(sys.argv[1])):
    for batch in [part for _ in range(4) for part in advantage(data).reshape(-1)[torch.randperm(64 * 64)].split(512)]:
        optimizer.zero_grad()
        sum(part for name, part in loss(batch).items() if name.startswith("loss_")).backward()
        optimizer.step()
save_policy(policy, sys.argv[2])

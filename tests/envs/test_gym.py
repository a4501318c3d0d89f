"""The Gymnasium environments: every registered id keeps Gymnasium's contract and tells the true cause."""

import pickle
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from actcause import envs
from actcause.envs.gym import IDS

EVERY_ID = [f"actcause/{name}-v0" for name in IDS.values()]


def test_every_domain_is_registered():
    assert set(IDS) == set(envs.names())
    assert set(EVERY_ID) <= set(gymnasium.registry)


@pytest.mark.parametrize("name", EVERY_ID)
def test_gymnasium_finds_nothing_wrong(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of observations without a bound, which some worlds have
        check_env(gymnasium.make(name).unwrapped, skip_render_check=True)


@pytest.mark.parametrize("name", EVERY_ID)
def test_two_copies_with_one_seed_live_the_same_life(name):
    first, second = gymnasium.make(name), gymnasium.make(name)
    seen, again = first.reset(seed=3)[0], second.reset(seed=3)[0]
    first.action_space.seed(3)
    for _ in range(30):
        assert all((seen[factor] == again[factor]).all() for factor in seen)
        action = first.action_space.sample()
        seen, _, ended, cut, info = first.step(action)
        again, _, _, _, other = second.step(action)
        assert (info["cause"] == other["cause"]).all()
        if ended or cut:
            seen, again = first.reset(seed=4)[0], second.reset(seed=4)[0]


@pytest.mark.parametrize("name", EVERY_ID)
def test_a_copy_made_by_pickle_goes_on_as_the_original(name):
    env = gymnasium.make(name)
    env.reset(seed=1)
    copy = pickle.loads(pickle.dumps(env))
    action = env.action_space.sample()
    one, two = env.step(action), copy.step(action)
    assert all((one[0][factor] == two[0][factor]).all() for factor in one[0])
    assert (one[4]["cause"] == two[4]["cause"]).all()


@pytest.mark.parametrize("name", envs.names())
def test_an_environment_gives_what_the_domain_s_own_step_gives(name):
    env = gymnasium.make(f"actcause/{IDS[name]}-v0").unwrapped
    env.reset(seed=5)
    env.action_space.seed(5)
    domain = env.domain
    for _ in range(10):
        before = env._states.copy()
        action = env.action_space.sample()
        chosen = action if domain.choices is None else domain.choices[int(action)]
        expected = domain.step(before, np.asarray(chosen, dtype=float).reshape(1, -1))
        seen, reward, _, _, info = env.step(action)
        assert reward == 0
        assert info["cause"].tolist() == expected.cause[0].astype(int).tolist()
        assert len(info["cause"]) == len(info["factors"]) == len(domain.factors)
        position = domain.index(domain.outcome)
        width = len(domain.features[domain.outcome])
        assert np.allclose(seen[domain.outcome], expected.states[0, position, :width])


def test_parameters_of_a_domain_are_arguments_of_make():
    env = gymnasium.make("actcause/Push-v0", obstacles=1)
    assert "obstacle2" not in env.observation_space.spaces
    with pytest.raises(Exception, match="did you mean 'obstacles'"):
        gymnasium.make("actcause/Push-v0", obstakles=1)


def test_a_step_before_the_first_reset_is_refused():
    with pytest.raises(gymnasium.error.ResetNeeded):
        gymnasium.make("actcause/Break-v0").unwrapped.step(0)

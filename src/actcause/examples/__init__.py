"""The literature's models, each with its citation and the verdicts that were published about it.

Each model is a function of its own; the function's docstring draws it (`->` is an influence, `-|` one
that prevents). Nothing is built or parsed before `load` asks for it.

>>> example = load("rock-throwing")
>>> print(example.story)
Suzy and Billy both throw a rock at a bottle. Suzy's arrives first and shatters it; Billy's would have.
>>> from actcause import is_cause
>>> print(is_cause(example.model, context=example.context, effect=example.effect, event={"ST": 1}))
Suzy's throw ST=1 is a cause of BS=1: had ST been 0 while BH stayed 0, BS would have been 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, wraps
from textwrap import dedent
from types import MappingProxyType
from typing import Any

from ..core.model import Model
from ..errors import QueryError, suggest


@dataclass(frozen=True, eq=False)
class Published:
    """What a publication says of one event under one definition, in the example's context."""

    event: Mapping[str, int]
    definition: str
    holds: bool
    source: str


@dataclass(frozen=True, eq=False)
class Example:
    """A model from the literature, what happened in it, and what was published about its causes.

    `outcome` is the variable to partition the states by. The two shares are the settings under which
    functional actual causes were published, or ours where `notes` say so; None where there are none.
    `notes` also say where the literature argues, or where a definition and intuition part.

    >>> loader = load("loader")
    >>> [(verdict.definition, verdict.holds) for verdict in loader.verdicts if verdict.event == {"A": 1}]
    [('original-hp', True), ('updated-hp', False), ('modified-hp', False)]
    """

    title: str
    story: str
    text: str
    context: Mapping[str, int]
    effect: str
    outcome: str
    source: str
    verdicts: tuple[Published, ...] = ()
    alpha_sufficiency: float | None = None
    alpha_necessity: float | None = None
    notes: tuple[str, ...] = ()
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", dedent(self.text).strip())
        object.__setattr__(self, "context", MappingProxyType(dict(self.context)))

    @cached_property
    def model(self) -> Model:
        """The model, parsed from `text` when first asked for."""
        return Model.from_text(self.text)

    def __reduce__(self) -> tuple[Any, ...]:
        return (load, (self.name,))


def names() -> tuple[str, ...]:
    """The names of all examples, in the order of this file.

    >>> names()[:3]
    ('rock-throwing', 'forest-fire', 'gang-execution')
    """
    return tuple(_CATALOGUE)


def load(name: str) -> Example:
    """Look an example up, with the nearest name suggested if there is none.

    >>> load("loader").model.variables
    ('A', 'B', 'C', 'D')
    """
    if not isinstance(name, str) or name not in _CATALOGUE:
        raise QueryError(
            f"Unknown example {name!r}{suggest(str(name), list(_CATALOGUE)) or '.'} "
            f"actcause.examples.names() lists them all."
        )
    return _CATALOGUE[name]()


_CATALOGUE: dict[str, Callable[[], Example]] = {}


def _catalogued(build: Callable[[], Example]) -> Callable[[], Example]:
    """Enter a model into the catalogue under its function's name; build it once, on demand."""
    name = build.__name__.replace("_", "-")

    @cache
    @wraps(build)
    def built() -> Example:
        return replace(build(), name=name)

    _CATALOGUE[name] = built
    return built


def _say(definitions: Iterable[str], holds: bool, source: str, **event: int) -> tuple[Published, ...]:
    """The same verdict on one event under several definitions."""
    return tuple(Published(MappingProxyType(event), definition, holds, source) for definition in definitions)


BUT_FOR = ("but-for",)
ORIGINAL = ("original-hp",)
UPDATED = ("updated-hp",)
MODIFIED = ("modified-hp",)
FUNCTIONAL = ("functional",)
TWO_HP = ORIGINAL + UPDATED
ALL_HP = TWO_HP + MODIFIED
SUFFICIENCY = ("direct", "strong")

FAC = (
    "Chuck, Vaidyanathan, Giguere, Zhang, Jensen and Niekum, "
    "Automated Discovery of Functional Actual Causes in Complex Environments, ICML 2024"
)
FAC_TABLES = f"{FAC}, results of Algorithm 0 (appendix)"
FAC_MORE = f"{FAC}, Additional Examples (appendix)"
BEEBEE = "Beebee, Causing and Nothingness, in Causation and Counterfactuals, MIT Press 2004"
GLYMOUR = "Glymour et al., Actual Causation: A Stone Soup Essay, Synthese 175, 2010"
HALL_2004 = "Hall, Two Concepts of Causation, in Causation and Counterfactuals, MIT Press 2004"
HALL_2007 = "Hall, Structural Equations and Causation, Philosophical Studies 132, 2007"
HALPERN_2014 = "Halpern, Appropriate Causal Models and Stability of Causation, KR 2014"
HALPERN_2015 = "Halpern, A Modification of the Halpern-Pearl Definition of Causality, IJCAI 2015"
HALPERN_2016 = "Halpern, Actual Causality, MIT Press 2016"
HH_2010 = (
    "Halpern and Hitchcock, Actual Causation and the Art of Modeling, in Heuristics, Probability and Causality, 2010"
)
HH_2015 = "Halpern and Hitchcock, Graded Causation and Defaults, British Journal for the Philosophy of Science 66, 2015"
HIDDLESTON = "Hiddleston, Causal Powers, British Journal for the Philosophy of Science 56, 2005"
HITCHCOCK_2001 = (
    "Hitchcock, The Intransitivity of Causation Revealed in Equations and Graphs, Journal of Philosophy 98, 2001"
)
HOPKINS_PEARL = (
    "Hopkins and Pearl, Clarifying the Usage of Structural Models for Commonsense Causal Reasoning, "
    "AAAI Spring Symposium SS-03-05, 2003"
)
HP_2005 = (
    "Halpern and Pearl, Causes and Explanations: A Structural-Model Approach. Part I: Causes, "
    "British Journal for the Philosophy of Science 56, 2005"
)
LEWIS_2000 = "Lewis, Causation as Influence, Journal of Philosophy 97, 2000"
MCDERMOTT = "McDermott, Redundant Causation, British Journal for the Philosophy of Science 46, 1995"
PEARL = "Pearl, Causality, Cambridge University Press 2000, Chapter 10"
ROSENBERG = "Rosenberg and Glymour, Review of Joseph Halpern, Actual Causality, BJPS Review of Books 2018"
SCHAFFER = "Schaffer, Trumping Preemption, Journal of Philosophy 97, 2000"
WESLAKE = "Weslake, A Partial Theory of Actual Causation, manuscript, 2015"
WRIGHT = "Wright, Causation in Tort Law, California Law Review 73, 1985"


# -- the eight examples with published tables of functional actual causes --------------------------


@_catalogued
def rock_throwing() -> Example:
    """ST -> SH -> BS <- BH <- BT, and SH -| BH."""
    return Example(
        title="Rock throwing (late preemption)",
        story="Suzy and Billy both throw a rock at a bottle. Suzy's arrives first and shatters it; Billy's would have.",
        text="""
            SH "Suzy's hit" = ST
            ST "Suzy's throw"
            BH "Billy's hit" = BT and not SH
            BT "Billy's throw"
            BS = SH or BH
        """,
        context={"ST": 1, "BT": 1},
        effect="BS == 1",
        outcome="BS",
        alpha_sufficiency=1,
        alpha_necessity=0.01,
        source=f"{HALPERN_2016}, Example 2.3.3; after Hall 2004 and Lewis 1986",
        verdicts=(
            *_say(BUT_FOR, False, f"{HALPERN_2015}, Introduction", ST=1),
            *_say(ALL_HP, True, f"{HALPERN_2016}, Example 2.3.3", ST=1),
            *_say(ALL_HP, False, f"{HALPERN_2016}, Example 2.3.3", BT=1),
        ),
        notes=(
            "There are 32 minimal binary-subset pairs. The publication prints 28 of them: "
            "the four in which each state is a part by itself are missing.",
        ),
    )


@_catalogued
def forest_fire() -> Example:
    """April, May, June -> Fire."""
    return Example(
        title="Forest fire (April rain, May and June storms)",
        story="It rained in April, so the electrical storm in May did not set the forest on fire; the one in June did. "
        "Fire tells the month: 0 for no fire, 1 for May, 2 for June.",
        text="""
            April "the rain in April"
            May "the storm in May"
            June "the storm in June"
            Fire in {0, 1, 2} = 1 if May and not April else 2 if June else 0
        """,
        context={"April": 1, "May": 1, "June": 1},
        effect="Fire == 2",
        outcome="Fire",
        alpha_sufficiency=0.2,
        alpha_necessity=0.01,
        source=f"{HALPERN_2016}, Example 7.1.4; equations as in {FAC_TABLES}, Forest Fire",
        verdicts=(
            *_say(FUNCTIONAL, True, f"{FAC_TABLES}, Forest Fire", April=1, June=1),
            *_say(FUNCTIONAL, False, f"{FAC_TABLES}, Forest Fire", April=1),
            *_say(FUNCTIONAL, False, f"{FAC_TABLES}, Forest Fire", May=1),
            *_say(UPDATED, True, f"{HP_2005}, Example on rain in April", April=1),
        ),
        notes=(
            "Halpern and Pearl use one variable for both storms: by them the rain caused a fire in June, "
            "but it did not cause that there was a fire at all.",
        ),
    )


@_catalogued
def gang_execution() -> Example:
    """Gang <- Leader -> Death."""
    return Example(
        title="Gang execution",
        story="A gang shoots when its leader does. The leader shoots, the gang shoots too, and the victim dies.",
        text="""
            Gang "the gang's shots" = Leader
            Leader "the leader's shot"
            Death = Leader
        """,
        context={"Leader": 1},
        effect="Death == 1",
        outcome="Death",
        alpha_sufficiency=1,
        alpha_necessity=0.01,
        source=f"{ROSENBERG}, Section 4; equations as in {FAC_TABLES}, Gang Execution",
        verdicts=(
            *_say(FUNCTIONAL, True, f"{FAC_TABLES}, Gang Execution", Leader=1),
            *_say(FUNCTIONAL, False, f"{FAC_TABLES}, Gang Execution", Gang=1),
        ),
        notes=("The published table has the two states 00 and 11 only; it needs Gang = Leader and Death = Leader.",),
    )


@_catalogued
def halt_and_charge() -> Example:
    """Major -> Corporal <- Sergeant; Major trumps."""
    return Example(
        title="Halt and charge (trumping)",
        story="Major and sergeant both order the corporal to charge, and he charges. "
        "The sergeant counts only while the major gives no order (Major=2).",
        text="""
            Major "the major's order" in 0..2
            Sergeant "the sergeant's order"
            Corporal = Sergeant if Major == 2 else Major
        """,
        context={"Major": 1, "Sergeant": 1},
        effect="Corporal == 1",
        outcome="Corporal",
        alpha_sufficiency=0.3,
        alpha_necessity=0.01,
        source=f"{HALPERN_2016}, Example 2.3.7; after {SCHAFFER}; values as in {FAC_TABLES}, Halt and Charge",
        verdicts=(
            *_say(FUNCTIONAL, True, f"{FAC_TABLES}, Halt and Charge", Major=1),
            *_say(FUNCTIONAL, False, f"{FAC_TABLES}, Halt and Charge", Sergeant=1),
            *_say(ALL_HP, True, f"{HALPERN_2016}, Example 2.3.7", Major=1),
            *_say(TWO_HP, True, f"{HALPERN_2016}, Example 2.3.7", Sergeant=1),
            *_say(MODIFIED, False, f"{HALPERN_2016}, Example 2.3.7", Sergeant=1),
        ),
        notes=("Schaffer holds that the major alone is the cause; see trumping for a model in which all HP agree.",),
    )


@_catalogued
def switching_railroad_tracks() -> Example:
    """Break -> Track <- Switch, Track -> Arrive."""
    return Example(
        title="Switching railroad tracks",
        story="An engineer flips a switch, and the train takes the right-hand track instead of the left-hand one. "
        "Either leads to the station, unless the line is broken.",
        text="""
            Break "the break in the line"
            Switch "the flip of the switch"
            Track "the track taken" in {0, 1, 2} = 2 if Break else Switch
            Arrive = Track != 2
        """,
        context={"Break": 0, "Switch": 1},
        effect="Arrive == 1",
        outcome="Arrive",
        alpha_sufficiency=1,
        alpha_necessity=0.01,
        source=f"{HALPERN_2016}, Example 2.3.6; after {HALL_2004}; equations as in {FAC_TABLES}",
        verdicts=_say(ALL_HP, False, f"{HALPERN_2016}, Example 2.3.6, the track as one variable", Switch=1),
        notes=("Give each track a variable of its own and the flip becomes a cause: see track-switch.",),
    )


@_catalogued
def binary_and() -> Example:
    """A -> C <- B."""
    return Example(
        title="Binary And",
        story="The outcome needs both inputs, and both are there.",
        text="A\nB\nC = A and B",
        context={"A": 1, "B": 1},
        effect="C == 1",
        outcome="C",
        alpha_sufficiency=1,
        alpha_necessity=0.01,
        source=f"{FAC_TABLES}, Binary And",
        verdicts=(
            *_say(FUNCTIONAL + MODIFIED, True, f"{FAC_TABLES}, Binary And", A=1),
            *_say(FUNCTIONAL + MODIFIED, True, f"{FAC_TABLES}, Binary And", B=1),
        ),
    )


@_catalogued
def binary_or() -> Example:
    """A -> C <- B."""
    return Example(
        title="Binary Or",
        story="Either input is enough for the outcome, and both are there.",
        text="A\nB\nC = A or B",
        context={"A": 1, "B": 1},
        effect="C == 1",
        outcome="C",
        alpha_sufficiency=1,
        alpha_necessity=0.01,
        source=f"{FAC_TABLES}, Binary Or",
        verdicts=(
            *_say(FUNCTIONAL, True, f"{FAC_TABLES}, Binary Or", A=1, B=1),
            *_say(FUNCTIONAL, False, f"{FAC_TABLES}, Binary Or", A=1),
            *_say(FUNCTIONAL, False, f"{FAC_TABLES}, Binary Or", B=1),
        ),
    )


@_catalogued
def binary_xor() -> Example:
    """A -> C <- B."""
    return Example(
        title="Binary Xor",
        story="The outcome occurs when exactly one of two inputs is there, and one is.",
        text="A\nB\nC = A != B",
        context={"A": 1, "B": 0},
        effect="C == 1",
        outcome="C",
        alpha_sufficiency=1,
        alpha_necessity=0.01,
        source=f"{FAC_TABLES}, Binary XOR",
        verdicts=(
            *_say(FUNCTIONAL, True, f"{FAC_TABLES}, Binary XOR", A=1),
            *_say(FUNCTIONAL, True, f"{FAC_TABLES}, Binary XOR", B=0),
        ),
    )


# -- context-specific independence: where almost nothing could have mattered -----------------------


@_catalogued
def mover_1d() -> Example:
    """Diagram: m -> m' <- o."""
    return Example(
        title="1D mover",
        story="A mover steps one cell to the right unless an obstacle stands there. It does, so the mover stays.",
        text="""
            m "the mover's position" in 0..3
            o "the obstacle's position" in 0..2
            m' = m if o == m + 1 else m + 1
        """,
        context={"m": 0, "o": 1},
        effect="m' == 0",
        outcome="m'",
        alpha_sufficiency=0.4,
        alpha_necessity=0.01,
        source=f"{FAC}, 1D Mover",
        verdicts=(
            *_say(FUNCTIONAL, True, f"{FAC}, 1D Mover", m=0, o=1),
            *_say(FUNCTIONAL, False, f"{FAC}, 1D Mover", m=0),
            *_say(FUNCTIONAL, False, f"{FAC}, 1D Mover", o=1),
        ),
    )


@_catalogued
def pusher_1d() -> Example:
    """P -> Y <- X."""
    return Example(
        title="Discrete 1D pusher",
        story="A pusher at 499 shoves the block from 500 to 501. "
        "The obstacle, far behind at 200, would have stopped the block had it stood at 501.",
        text="""
            P "the pusher's position" in 0..1000
            X "the obstacle's position" in 0..1000
            Y in 500..502 = 500 if P < 499 or P > 500 or X == 501 else 501 if P == 499 or X == 502 else 502
        """,
        context={"P": 499, "X": 200},
        effect="Y == 501",
        outcome="Y",
        alpha_sufficiency=0.2,
        alpha_necessity=0.01,
        source=f"{FAC_MORE}, Discrete 1D Pusher",
        verdicts=_say(MODIFIED + SUFFICIENCY, True, f"{FAC_MORE}, Discrete 1D Pusher", X=200),
        notes=("The publication gives no shares for this example; those of the rocket ship serve it as well.",),
    )


@_catalogued
def rocket_ship() -> Example:
    """T1 -> Y <- T2, X -| Y."""
    return Example(
        title="Rocket ship",
        story="Both thrusters fire and the rocket launches, as it would with one. "
        "A bird is about; only at position 500 would it have wrecked the wiring.",
        text="""
            T1 "the first thruster"
            T2 "the second thruster"
            X "the bird's position" in 0..1000
            Y = (T1 or T2) and X != 500
        """,
        context={"T1": 1, "T2": 1, "X": 200},
        effect="Y == 1",
        outcome="Y",
        alpha_sufficiency=0.2,
        alpha_necessity=0.01,
        source=f"{FAC_MORE}, Rocket Ship",
        verdicts=(
            *_say(MODIFIED + SUFFICIENCY, True, f"{FAC_MORE}, Rocket Ship", X=200),
            *_say(FUNCTIONAL, True, f"{FAC_MORE}, Rocket Ship", T1=1, T2=1),
        ),
    )


@_catalogued
def offensive_chatbot() -> Example:
    """U -> C, E -| C."""
    return Example(
        title="Offensive chatbot",
        story="A chatbot repeats whatever its user types, and the user types something offensive. "
        "An engineer is at work; only action 500 would have crashed the bot.",
        text="""
            U "the user's input" in 1..1000
            E "the engineer's action" in 1..1000
            C in 0..1000 = 0 if E == 500 else U
        """,
        context={"U": 500, "E": 200},
        effect="C == 500",
        outcome="C",
        alpha_sufficiency=0.2,
        alpha_necessity=0.01,
        source=f"{FAC_MORE}, Offensive Chatbot",
        verdicts=_say(MODIFIED + SUFFICIENCY, True, f"{FAC_MORE}, Offensive Chatbot", E=200),
        notes=(
            "U is the user, an ordinary root that can be a cause; it is not exogenous.",
            "The publication gives no shares for this example; those of the rocket ship serve it as well.",
        ),
    )


@_catalogued
def queen_of_england() -> Example:
    """G -| W, Q -| W."""
    return Example(
        title="The Queen of England",
        story="The gardener did not water the flowers and they withered. "
        "Nor did the Queen of England, who does a thousand other things; number 500 would be to water them.",
        text="""
            G "the gardener's watering"
            Q "the Queen's doing" in 0..999
            W = not G and Q != 500
        """,
        context={"G": 0, "Q": 7},
        effect="W == 1",
        outcome="W",
        alpha_sufficiency=0.2,
        alpha_necessity=0.01,
        source=f"{BEEBEE}; {FAC}, Illustrative Example",
        verdicts=(
            *_say(BUT_FOR, True, BEEBEE, G=0),
            *_say(BUT_FOR, True, BEEBEE, Q=7),
        ),
        notes=(
            "Hardly anybody blames the Queen; what the definitions miss is how rare her watering them would be.",
            "The number of things that she might do, and the shares, are ours.",
        ),
    )


# -- overdetermination -----------------------------------------------------------------------------


@_catalogued
def forest_fire_conjunctive() -> Example:
    """L -> FF <- MD, both needed."""
    where = f"{HALPERN_2016}, Example 2.3.1"
    return Example(
        title="Forest fire, conjunctive",
        story="Lightning strikes and an arsonist drops a match; only together could they start the fire.",
        text="""
            L "the lightning"
            MD "the dropped match"
            FF = L and MD
        """,
        context={"L": 1, "MD": 1},
        effect="FF == 1",
        outcome="FF",
        source=where,
        verdicts=(
            *_say(BUT_FOR + ALL_HP, True, where, L=1),
            *_say(BUT_FOR + ALL_HP, True, where, MD=1),
        ),
    )


@_catalogued
def forest_fire_disjunctive() -> Example:
    """L -> FF <- MD, either enough."""
    where = f"{HALPERN_2016}, Example 2.3.1"
    return Example(
        title="Forest fire, disjunctive (symmetric overdetermination)",
        story="Lightning strikes and an arsonist drops a match; either alone would have started the fire.",
        text="""
            L "the lightning"
            MD "the dropped match"
            FF = L or MD
        """,
        context={"L": 1, "MD": 1},
        effect="FF == 1",
        outcome="FF",
        source=where,
        verdicts=(
            *_say(BUT_FOR, False, where, L=1),
            *_say(TWO_HP, True, where, L=1),
            *_say(TWO_HP, True, where, MD=1),
            *_say(MODIFIED, False, where, L=1),
            *_say(MODIFIED, False, where, MD=1),
            *_say(MODIFIED, True, where, L=1, MD=1),
        ),
        notes=("Is each fire-raiser a cause, or only both together? Here the HP definitions part ways.",),
    )


def _ballot(voters: int) -> str:
    votes = [f"V{i}" for i in range(1, voters + 1)]
    return "\n".join([*votes, f"W = {' + '.join(votes)} > {voters // 2}"])


@_catalogued
def voting_unanimous() -> Example:
    """V1 ... V11 -> W."""
    where = f"{HALPERN_2016}, Example 2.3.2"
    return Example(
        title="Voting, 11 to 0",
        story="Suzy wins an election by eleven votes to none; six would have done.",
        text=_ballot(11),
        context={f"V{i}": 1 for i in range(1, 12)},
        effect="W == 1",
        outcome="W",
        source=where,
        verdicts=(
            *_say(BUT_FOR, False, where, V1=1),
            *_say(TWO_HP, True, where, V1=1),
            *_say(MODIFIED, False, where, V1=1),
            *_say(MODIFIED, True, where, V1=1, V2=1, V3=1, V4=1, V5=1, V6=1),
        ),
    )


@_catalogued
def voting_close() -> Example:
    """V1 ... V11 -> W."""
    where = f"{HALPERN_2016}, Example 2.3.2"
    return Example(
        title="Voting, 6 to 5",
        story="Suzy wins an election by six votes to five; each vote for her was needed.",
        text=_ballot(11),
        context={f"V{i}": int(i <= 6) for i in range(1, 12)},
        effect="W == 1",
        outcome="W",
        source=where,
        verdicts=_say(BUT_FOR + ALL_HP, True, where, V1=1),
    )


@_catalogued
def firing_squad() -> Example:
    """C -> A -> D <- B <- C."""
    return Example(
        title="Firing squad",
        story="On the captain's order two riflemen shoot at once, both accurately, and the prisoner dies.",
        text="""
            C "the captain's order"
            A "the first rifleman's shot" = C
            B "the second rifleman's shot" = C
            D = A or B
        """,
        context={"C": 1},
        effect="D == 1",
        outcome="D",
        source=f"{HOPKINS_PEARL}, Firing Squad; after {PEARL}",
        verdicts=(
            *_say(BUT_FOR, True, HOPKINS_PEARL, C=1),
            *_say(BUT_FOR, False, HOPKINS_PEARL, A=1),
            *_say(ORIGINAL, True, HOPKINS_PEARL, A=1),
        ),
    )


@_catalogued
def paired_overdetermination() -> Example:
    """A, B -> E <- C, D, each pair enough."""
    return Example(
        title="Two sufficient pairs",
        story="Two pairs of people push a car. Each pair is just strong enough to move it, no single person is.",
        text="A\nB\nC\nD\nE = (A and B) or (C and D)",
        context={"A": 1, "B": 1, "C": 1, "D": 1},
        effect="E == 1",
        outcome="E",
        source=f"A standard pattern of overdetermination by sets; for the test it motivates see {WRIGHT}",
        notes=("No verdicts: we know of no publication that judges this very model under these definitions.",),
    )


@_catalogued
def pollution() -> Example:
    """A -> F <- B."""
    where = f"{HALPERN_2015}, the pollution example with threshold 80"
    return Example(
        title="Pollution",
        story="One company dumps 100 kg of a pollutant into a river, another 60 kg. It takes 80 kg to kill the fish.",
        text="""
            A "the first company's dumping" in {0, 100}
            B "the second company's dumping" in {0, 60}
            F = A + B >= 80
        """,
        context={"A": 100, "B": 60},
        effect="F == 1",
        outcome="F",
        source=where,
        verdicts=(
            *_say(BUT_FOR + ALL_HP, True, where, A=100),
            *_say(BUT_FOR + MODIFIED, False, where, B=60),
        ),
        notes=(
            "With a threshold of 120 kg both are causes; with 50 kg either is enough, as in forest-fire-disjunctive.",
        ),
    )


# -- preemption ------------------------------------------------------------------------------------


@_catalogued
def rock_throwing_naive() -> Example:
    """ST -> BS <- BT."""
    where = f"{HALPERN_2016}, Example 2.3.3, the first model"
    return Example(
        title="Rock throwing, too coarse a model",
        story="Suzy and Billy both throw a rock at a bottle, and it shatters. "
        "The model does not say whose rock arrived first, so it cannot tell the two apart.",
        text="""
            ST "Suzy's throw"
            BT "Billy's throw"
            BS = ST or BT
        """,
        context={"ST": 1, "BT": 1},
        effect="BS == 1",
        outcome="BS",
        source=where,
        verdicts=(
            *_say(TWO_HP, True, where, ST=1),
            *_say(TWO_HP, True, where, BT=1),
            *_say(MODIFIED, False, where, BT=1),
            *_say(MODIFIED, True, where, ST=1, BT=1),
        ),
    )


@_catalogued
def backup_assassin() -> Example:
    """T -> V <- S, T -| S."""
    return Example(
        title="Trainee and supervisor (early preemption)",
        story="A trainee shoots the victim. Had the trainee lost nerve, the supervisor would have shot instead.",
        text="""
            T "the trainee's shot"
            S "the supervisor's shot" = not T
            V = T or S
        """,
        context={"T": 1},
        effect="V == 1",
        outcome="V",
        source=f"{HITCHCOCK_2001}; also {WESLAKE}, Example 1",
        verdicts=(
            *_say(BUT_FOR, False, HITCHCOCK_2001, T=1),
            *_say(UPDATED, True, f"{HH_2015}, on preemption", T=1),
        ),
    )


@_catalogued
def desert_traveler() -> Example:
    """P -> C -> Y <- D <- X, and X -| C."""
    return Example(
        title="Desert traveler",
        story="One enemy poisons a traveler's canteen; another, unaware, shoots it empty. The traveler dies of thirst.",
        text="""
            P "the poisoning"
            X "the shot at the canteen"
            C "the drinking of poison" = P and not X
            D "the thirst" = X
            Y = C or D
        """,
        context={"P": 1, "X": 1},
        effect="Y == 1",
        outcome="Y",
        source=f"{PEARL}, the desert traveler; after McLaughlin 1925",
        verdicts=_say(BUT_FOR, False, PEARL, X=1),
        notes=("Pearl's own account, by causal beams, names the shot and not the poison.",),
    )


@_catalogued
def trumping() -> Example:
    """M -> C <- SE <- S, and M -| SE."""
    where = f"{HP_2005}, sergeant and major, the model with the sergeant's effective order"
    return Example(
        title="Trumping, with the order that takes effect",
        story="Major and sergeant both shout 'charge', and the corporal charges. "
        "The sergeant's order takes effect only while the major is silent; 1 is charge, -1 is halt, 0 is silence.",
        text="""
            M "the major's order" in -1..1
            S "the sergeant's order" in -1..1
            SE "the sergeant's effective order" in -1..1 = S if M == 0 else 0
            C in -1..1 = M if M != 0 else SE
        """,
        context={"M": 1, "S": 1},
        effect="C == 1",
        outcome="C",
        source=f"{where}; after {SCHAFFER}",
        verdicts=(
            *_say(UPDATED, True, where, M=1),
            *_say(UPDATED, False, where, S=1),
        ),
    )


@_catalogued
def loader() -> Example:
    """A, B -> D <- C."""
    return Example(
        title="The loader",
        story="A prisoner dies if A loads B's gun and B shoots, or if C shoots. A loads, B does not shoot, C does.",
        text="""
            A "A's loading"
            B "B's shot"
            C "C's shot"
            D = (A and B) or C
        """,
        context={"A": 1, "B": 0, "C": 1},
        effect="D == 1",
        outcome="D",
        source=f"{HOPKINS_PEARL}; {HALPERN_2016}, Example 2.8.1",
        verdicts=(
            *_say(BUT_FOR + ALL_HP, True, f"{HALPERN_2016}, Example 2.8.1", C=1),
            *_say(ORIGINAL, True, HOPKINS_PEARL, A=1),
            *_say(UPDATED, False, HP_2005, A=1),
            *_say(MODIFIED, False, HALPERN_2015, A=1),
        ),
        notes=("This example is why the definition of 2001 was updated.",),
    )


@_catalogued
def loader_refined() -> Example:
    """A, B -> B' -> D <- C."""
    where = f"{HALPERN_2016}, Chapter 4, on conservative extensions"
    return Example(
        title="The loader, with the bullet",
        story="As the loader, with one more variable: whether B's gun, loaded by A, fires a bullet.",
        text="""
            A "A's loading"
            B "B's shot"
            B' "B's bullet" = A and B
            C "C's shot"
            D = B' or C
        """,
        context={"A": 1, "B": 0, "C": 1},
        effect="D == 1",
        outcome="D",
        source=where,
        verdicts=_say(ORIGINAL, False, where, A=1),
        notes=("With this variable even the original definition acquits A.",),
    )


# -- prevention and threats ------------------------------------------------------------------------


@_catalogued
def bogus_prevention() -> Example:
    """P -| S, A -> S."""
    where = f"{HALPERN_2015}, on bogus prevention"
    return Example(
        title="Bogus prevention",
        story="A bodyguard puts an antidote into the coffee. The assassin had a change of heart and added no poison. "
        "The victim drinks and survives.",
        text="""
            P "the poison"
            A "the antidote"
            S = not P or A
        """,
        context={"P": 0, "A": 1},
        effect="S == 1",
        outcome="S",
        source=f"{HIDDLESTON}; {HALPERN_2016}, Example 3.4.1",
        verdicts=(
            *_say(BUT_FOR, False, HIDDLESTON, A=1),
            *_say(TWO_HP, True, where, A=1),
            *_say(MODIFIED, False, where, A=1),
            *_say(MODIFIED, True, where, P=0, A=1),
        ),
        notes=(
            "Nearly everyone says that the antidote did nothing. The equations are those of "
            "forest-fire-disjunctive, where nearly everyone says that each fire-raiser counts.",
        ),
    )


@_catalogued
def bogus_prevention_refined() -> Example:
    """P, A -> PN -> S, and P -| S."""
    where = f"{HH_2010}, on bogus prevention"
    return Example(
        title="Bogus prevention, with the neutralised poison",
        story="As bogus prevention, with one more variable: whether the antidote neutralises any poison.",
        text="""
            P "the poison"
            A "the antidote"
            PN "the neutralising" = P and A
            S = not P or PN
        """,
        context={"P": 0, "A": 1},
        effect="S == 1",
        outcome="S",
        source=f"{where}; {HH_2015}, on bogus prevention",
        verdicts=(
            *_say(UPDATED, False, where, A=1),
            *_say(UPDATED, True, where, P=0),
        ),
    )


@_catalogued
def non_existent_threat() -> Example:
    """A -> E, B -> D -| E, C -| D."""
    where = f"{HALPERN_2015}, on non-existent threats"
    return Example(
        title="Non-existent threat",
        story="A would bring about E unless D stops it, D would follow from B, and C guards against that. "
        "A and C occur; B, the threat, never does.",
        text="""
            A "the process"
            B "the threat"
            C "the guard"
            D = B and not C
            E = A and not D
        """,
        context={"A": 1, "B": 0, "C": 1},
        effect="E == 1",
        outcome="E",
        source=f"{HALL_2007}; {where}",
        verdicts=(
            *_say(BUT_FOR, False, HALL_2007, C=1),
            *_say(TWO_HP, True, where, C=1),
            *_say(MODIFIED, False, where, C=1),
        ),
    )


@_catalogued
def short_circuit() -> Example:
    """A -> E, C -> T -> D -| E, C -> P -| D."""
    return Example(
        title="Short circuit",
        story="A brings about E. C starts a threat to E and, at the same time, the protection against that threat.",
        text="""
            A "the process"
            C "the trigger"
            T "the threat" = C
            P "the protection" = C
            D = T and not P
            E = A and not D
        """,
        context={"A": 1, "C": 1},
        effect="E == 1",
        outcome="E",
        source=f"{HALL_2007}, on short circuits",
        verdicts=(
            *_say(BUT_FOR, False, HALL_2007, C=1),
            *_say(UPDATED, True, HALL_2007, C=1),
        ),
        notes=("Hall's own answer is no: C cancels itself out.",),
    )


@_catalogued
def careful_poisoning() -> Example:
    """A -> S, A -> P -| S."""
    where = f"{HALPERN_2016}, Example 3.4.2"
    return Example(
        title="Careful poisoning",
        story="An assistant poisons the coffee only once the bodyguard has put the antidote in, "
        "to make the bodyguard look good. The victim survives, as without either of them.",
        text="""
            A "the antidote"
            P "the poison" = A
            S = not P or A
        """,
        context={"A": 1},
        effect="S == 1",
        outcome="S",
        source=f"{WESLAKE}, Example 11; {where}",
        verdicts=(
            *_say(BUT_FOR, False, WESLAKE, A=1),
            *_say(ALL_HP, True, where, A=1),
        ),
        notes=("Most say no; Halpern and Hitchcock answer with an order of what is normal on top of the definition.",),
    )


@_catalogued
def double_prevention() -> Example:
    """BPT -| EE -> ESS -| SBT -> TD."""
    where = f"{HP_2005}, Suzy the bomber and Billy her escort"
    return Example(
        title="Double prevention",
        story="Billy, the escort, shoots down an enemy fighter that would have shot down Suzy. "
        "Suzy bombs her target, knowing nothing of it.",
        text="""
            BPT "Billy's shot"
            EE "the enemy's escape" = not BPT
            ESS "the enemy's shot at Suzy" = EE
            SBT "Suzy's bombing" = not ESS
            TD = SBT
        """,
        context={"BPT": 1},
        effect="TD == 1",
        outcome="TD",
        source=f"{HALL_2004}; {where}",
        verdicts=(
            *_say(BUT_FOR, True, HALL_2004, BPT=1),
            *_say(UPDATED, True, where, BPT=1),
        ),
        notes=("For Hall the target's end depends on Billy's shot without being produced by it.",),
    )


@_catalogued
def extended_double_prevention() -> Example:
    """BPT -| EE -> ESS -| SBT -> TD, and BPT -| HPT -| EE."""
    where = f"{HP_2005}, Suzy the bomber with a second escort"
    return Example(
        title="Double prevention with a backup",
        story="As double prevention, with a second escort, Hillary, who would have shot had Billy not.",
        text="""
            BPT "Billy's shot"
            HPT "Hillary's shot" = not BPT
            EE "the enemy's escape" = not (BPT or HPT)
            ESS "the enemy's shot at Suzy" = EE
            SBT "Suzy's bombing" = not ESS
            TD = SBT
        """,
        context={"BPT": 1},
        effect="TD == 1",
        outcome="TD",
        source=f"{HALL_2004}; {where}",
        verdicts=(
            *_say(BUT_FOR, False, where, BPT=1),
            *_say(UPDATED, True, where, BPT=1),
        ),
    )


# -- transitivity and switches ---------------------------------------------------------------------


@_catalogued
def doctor() -> Example:
    """MT -| TT -> BMC <- MT."""
    where = f"{HP_2005}, Billy's medical condition"
    return Example(
        title="The Monday and the Tuesday doctor",
        story="Billy is treated on Monday, so the Tuesday doctor leaves him alone; two doses would have killed him. "
        "BMC is 0 if he is well, 1 if well only after Tuesday, 2 if he stays ill, 3 if he is dead.",
        text="""
            MT "Monday's treatment"
            TT "Tuesday's treatment" = not MT
            BMC in 0..3 = (3 if TT else 0) if MT else (1 if TT else 2)
        """,
        context={"MT": 1},
        effect="BMC != 3",
        outcome="BMC",
        source=f"{where}; {HALPERN_2016}, Section 2.3",
        verdicts=(
            *_say(UPDATED, True, where, TT=0),
            *_say(UPDATED, False, where, MT=1),
        ),
        notes=("Monday's treatment causes the lack of Tuesday's, that one causes survival, but the chain breaks.",),
    )


@_catalogued
def boulder_and_hiker() -> Example:
    """B -> D -> S, and B -| S."""
    return Example(
        title="Boulder and hiker",
        story="A boulder comes rolling down; the hiker sees it, ducks, and survives.",
        text="""
            B "the boulder's fall"
            D "the hiker's ducking" = B
            S = not B or D
        """,
        context={"B": 1},
        effect="S == 1",
        outcome="S",
        source=f"{HITCHCOCK_2001}; attributed there to Hall",
        verdicts=(
            *_say(BUT_FOR, True, HITCHCOCK_2001, D=1),
            *_say(BUT_FOR, False, HITCHCOCK_2001, B=1),
        ),
        notes=("The boulder made the hiker duck and ducking saved a life, yet the boulder did not save it.",),
    )


@_catalogued
def dog_bite() -> Example:
    """D -> P -> B."""
    where = f"{HALPERN_2016}, Section 2.4"
    return Example(
        title="Dog bite",
        story="A dog bites off a terrorist's right forefinger, so the bomb's button is pushed with the left one (P=2) "
        "instead of the right one (P=1). The bomb explodes.",
        text="""
            D "the dog's bite"
            P "the push of the button" in 0..2 = 2 if D else 1
            B = P != 0
        """,
        context={"D": 1},
        effect="B == 1",
        outcome="B",
        source=f"{MCDERMOTT}; {where}",
        verdicts=(
            *_say(BUT_FOR, False, MCDERMOTT, D=1),
            *_say(ALL_HP, False, where, D=1),
            *_say(ALL_HP, True, where, P=2),
        ),
    )


@_catalogued
def track_switch() -> Example:
    """F -> RT -> A <- LT, and F -| LT."""
    where = f"{HALPERN_2016}, Example 2.3.6, a variable for each track"
    return Example(
        title="Simple switch",
        story="An engineer flips a switch and the train takes the right-hand track instead of the left-hand one. "
        "Both lead to the station, and it arrives.",
        text="""
            F "the flip of the switch"
            LT "the left-hand track" = not F
            RT "the right-hand track" = F
            A = LT or RT
        """,
        context={"F": 1},
        effect="A == 1",
        outcome="A",
        source=f"{where}; after {HALL_2004}",
        verdicts=(
            *_say(BUT_FOR, False, HALL_2004, F=1),
            *_say(ALL_HP, True, where, F=1),
        ),
        notes=("With one variable for the track it is not a cause: see switching-railroad-tracks.",),
    )


@_catalogued
def blocked_tracks() -> Example:
    """F -> A, LB -| A, RB -| A."""
    where = f"{HALPERN_2015}, on the railroad switch with tracks that may be blocked"
    return Example(
        title="Tracks that might have been blocked",
        story="An engineer sends a train along the right-hand track. Neither track is blocked, and it arrives.",
        text="""
            F "the flip of the switch"
            LB "the block on the left"
            RB "the block on the right"
            A = not RB if F else not LB
        """,
        context={"F": 1, "LB": 0, "RB": 0},
        effect="A == 1",
        outcome="A",
        source=f"{HH_2010}, Example 4; {where}",
        verdicts=(
            *_say(BUT_FOR, False, where, F=1),
            *_say(TWO_HP, True, where, F=1),
            *_say(MODIFIED, False, where, F=1),
        ),
    )


@_catalogued
def shock() -> Example:
    """A -> B -> C <- A."""
    return Example(
        title="Shock",
        story="One gets a shock if two switches agree. A sets the first; B, who wants the shock, sees it and agrees.",
        text="""
            A "A's switch"
            B "B's switch" = A
            C = A == B
        """,
        context={"A": 1},
        effect="C == 1",
        outcome="C",
        source=f"{MCDERMOTT}; {LEWIS_2000}; also {WESLAKE}",
        verdicts=(
            *_say(BUT_FOR, False, LEWIS_2000, A=1),
            *_say(BUT_FOR, True, LEWIS_2000, B=1),
        ),
        notes=("Lewis counts A's move as a cause, since causation is transitive for him; McDermott does not.",),
    )


# -- rules and omissions ---------------------------------------------------------------------------


@_catalogued
def combination_lamp() -> Example:
    """A, B, C -> L."""
    where = f"{HALPERN_2015}, on the lamp"
    return Example(
        title="Combination lamp",
        story="A lamp is on if at least two of three dials have the same position. A is at 1, B and C are at -1.",
        text="""
            A "the first dial" in -1..1
            B "the second dial" in -1..1
            C "the third dial" in -1..1
            L = A == B or B == C or A == C
        """,
        context={"A": 1, "B": -1, "C": -1},
        effect="L == 1",
        outcome="L",
        source=f"{WESLAKE}; {HALPERN_2014}",
        verdicts=(
            *_say(TWO_HP, True, where, A=1),
            *_say(MODIFIED, False, where, A=1),
            *_say(BUT_FOR + ALL_HP, True, where, B=-1),
            *_say(BUT_FOR + ALL_HP, True, where, C=-1),
        ),
    )


@_catalogued
def ranch() -> Example:
    """A1 ... A5 -> O."""
    where = f"{HALPERN_2014}, the ranch"
    return Example(
        title="The ranch",
        story="Five people vote. If the first two agree, that is the outcome; if the last four agree against "
        "the first, the first prevails; else the majority does. The first two vote 1, the others 0; the outcome is 1.",
        text="""
            A1 "the first vote"
            A2 "the second vote"
            A3 "the third vote"
            A4 "the fourth vote"
            A5 "the fifth vote"
            O = A1 if A1 == A2 or A2 == A3 == A4 == A5 else A1 + A2 + A3 + A4 + A5 > 2
        """,
        context={"A1": 1, "A2": 1, "A3": 0, "A4": 0, "A5": 0},
        effect="O == 1",
        outcome="O",
        source=f"{GLYMOUR}; {where}",
        verdicts=(
            *_say(BUT_FOR + TWO_HP, True, where, A1=1),
            *_say(UPDATED, True, where, A2=1),
            *_say(UPDATED, True, where, A3=0),
        ),
        notes=("That a vote against the outcome should have caused it is the complaint of Glymour and his coauthors.",),
    )


@_catalogued
def gardener() -> Example:
    """G -| W, N -| W."""
    where = f"{HH_2015}, on omissions"
    return Example(
        title="The gardener's omission",
        story="The gardener was hired to water the flowers and did not; nor did a neighbour. The flowers withered.",
        text="""
            G "the gardener's watering"
            N "the neighbour's watering"
            W = not G and not N
        """,
        context={"G": 0, "N": 0},
        effect="W == 1",
        outcome="W",
        source=f"{BEEBEE}; {where}",
        verdicts=(
            *_say(BUT_FOR + UPDATED, True, where, G=0),
            *_say(BUT_FOR + UPDATED, True, where, N=0),
        ),
        notes=("The two are alike in the model; only what is normal, or owed, sets them apart.",),
    )

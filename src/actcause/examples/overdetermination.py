"""Overdetermination: more causes than the effect needed."""

from .citations import HALPERN_2015, HALPERN_2016, HOPKINS_PEARL, PEARL, WRIGHT
from .example import ALL_HP, BUT_FOR, MODIFIED, ORIGINAL, TWO_HP, Example, Theme, no, yes

OVERDETERMINATION = Theme("Overdetermination")


@OVERDETERMINATION
def forest_fire_conjunctive() -> Example:
    """L -> FF <- MD, both needed."""
    return Example(
        title="Forest fire, conjunctive",
        story="Lightning strikes and an arsonist drops a match; only together could they start the fire.",
        text="""
            L "the lightning"
            MD "the dropped match"
            FF = L and MD
        """,
        context={"L": 1, "MD": 1},
        verdicts=yes(BUT_FOR + ALL_HP, f"{HALPERN_2016}, Example 2.3.1", "L=1", "MD=1"),
    )


@OVERDETERMINATION
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
        verdicts=no(BUT_FOR, where, "L=1")
        + yes(TWO_HP, where, "L=1", "MD=1")
        + no(MODIFIED, where, "L=1", "MD=1")
        + yes(MODIFIED, where, "L=1, MD=1"),
        notes=("Is each fire-raiser a cause, or only both together? Here the HP definitions part ways.",),
    )


def _ballot(voters: int) -> str:
    votes = [f"V{i}" for i in range(1, voters + 1)]
    return "\n".join([*votes, f"W = {' + '.join(votes)} > {voters // 2}"])


@OVERDETERMINATION
def voting_unanimous() -> Example:
    """V1 ... V11 -> W."""
    where = f"{HALPERN_2016}, Example 2.3.2"
    return Example(
        title="Voting, 11 to 0",
        story="Suzy wins an election by eleven votes to none; six would have done.",
        text=_ballot(11),
        context={f"V{i}": 1 for i in range(1, 12)},
        verdicts=no(BUT_FOR, where, "V1=1")
        + yes(TWO_HP, where, "V1=1")
        + no(MODIFIED, where, "V1=1")
        + yes(MODIFIED, where, "V1=1, V2=1, V3=1, V4=1, V5=1, V6=1"),
    )


@OVERDETERMINATION
def voting_close() -> Example:
    """V1 ... V11 -> W."""
    return Example(
        title="Voting, 6 to 5",
        story="Suzy wins an election by six votes to five; each vote for her was needed.",
        text=_ballot(11),
        context={f"V{i}": int(i <= 6) for i in range(1, 12)},
        verdicts=yes(BUT_FOR + ALL_HP, f"{HALPERN_2016}, Example 2.3.2", "V1=1"),
    )


@OVERDETERMINATION
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
        source=f"{HOPKINS_PEARL}, Firing Squad; after {PEARL}",
        verdicts=yes(BUT_FOR, HOPKINS_PEARL, "C=1")
        + no(BUT_FOR, HOPKINS_PEARL, "A=1")
        + yes(ORIGINAL, HOPKINS_PEARL, "A=1"),
    )


@OVERDETERMINATION
def paired_overdetermination() -> Example:
    """A, B -> E <- C, D, each pair enough."""
    return Example(
        title="Two sufficient pairs",
        story="Two pairs of people push a car. Each pair is just strong enough to move it, no single person is.",
        text="A\nB\nC\nD\nE = (A and B) or (C and D)",
        context={"A": 1, "B": 1, "C": 1, "D": 1},
        source=f"A standard pattern of overdetermination by sets; for the test it motivates see {WRIGHT}",
        notes=("No verdicts: we know of no publication that judges this very model under these definitions.",),
    )


@OVERDETERMINATION
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
        verdicts=yes(BUT_FOR + ALL_HP, where, "A=100") + no(BUT_FOR + MODIFIED, where, "B=60"),
        notes=(
            "With a threshold of 120 kg both are causes; with 50 kg either is enough, as in forest-fire-disjunctive.",
        ),
    )

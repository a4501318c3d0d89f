"""Overdetermination: more causes than the effect needed."""

from .citations import (
    COMPUTED,
    HALPERN_2008,
    HALPERN_2015,
    HALPERN_2016,
    HOPKINS_PEARL,
    HP_2005,
    LIVENGOOD,
    PEARL,
    WRIGHT,
)
from .example import ALL_HP, BUT_FOR, MODIFIED, ORIGINAL, TWO_HP, UPDATED, Example, Theme, no, yes

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


@OVERDETERMINATION
def forest_fire_mechanisms() -> Example:
    """L, MD -> A, B, C -> FF."""
    where = f"{HALPERN_2015}, Example 3.6"
    return Example(
        title="Forest fire, disjunctive, with its mechanisms",
        story="As the disjunctive forest fire, with a variable for each way in which the fire can come about: "
        "by the lightning alone, by the match alone, by both.",
        text="""
            L "the lightning"
            MD "the dropped match"
            A "a fire by lightning alone" = L and not MD
            B "a fire by the match alone" = not L and MD
            C "a fire by both" = L and MD
            FF = A or B or C
        """,
        context={"L": 1, "MD": 1},
        verdicts=no(BUT_FOR, COMPUTED, "L=1", "MD=1") + yes(ALL_HP, where, "L=1", "MD=1"),
        notes=("Now each is a cause by the modified definition too: the fire by the other alone did not happen.",),
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
def voting_three_candidates() -> Example:
    """V1 ... V19 -> N1, N2, N3 -> W."""
    votes = [f"V{i}" for i in range(1, 20)]
    counts = [f"N{one} = {' + '.join(f'({vote} == {one})' for vote in votes)}" for one in (1, 2, 3)]
    return Example(
        title="Voting, 17 to 2 to 0",
        story="Of nineteen voters, seventeen choose the first candidate, two the second and none the third. "
        "N1, N2 and N3 count the votes, W says whether the first wins.",
        text="\n".join([*(f"{vote} in 1..3" for vote in votes), *counts, "W = N1 > N2 and N1 > N3"]),
        context={vote: 1 + (vote in ("V18", "V19")) for vote in votes},
        source=f"after {LIVENGOOD}; also {HALPERN_2015}",
        verdicts=yes(TWO_HP, LIVENGOOD, "V1=1", "V18=2")
        + no(BUT_FOR + MODIFIED, COMPUTED, "V1=1", "V18=2")
        + yes(MODIFIED, COMPUTED, "V1=1, V2=1, V3=1, V4=1, V5=1, V6=1, V7=1, V8=1")
        + no(MODIFIED, COMPUTED, "V1=1, V2=1, V3=1, V4=1, V5=1, V6=1, V7=1, V8=1, V18=2"),
        notes=(
            "By the original and the updated definition a vote for the second candidate is a cause of the first's "
            "victory: had eight others voted for the third, it would have kept the third from drawing level.",
            "By the modified one it is not even a part of a cause: eight votes for the first are one without it.",
        ),
    )


@OVERDETERMINATION
def voting_machine() -> Example:
    """V1, V2 -> M -> P."""
    where = f"{HP_2005}, the vote that a machine counts"
    return Example(
        title="Voting machine",
        story="Two people vote for a measure, a machine adds the votes up, and the measure passes with at least one.",
        text="""
            V1 "the first vote"
            V2 "the second vote"
            M "the machine's count" = V1 + V2
            P = M >= 1
        """,
        context={"V1": 1, "V2": 1},
        source=f"{where}; {HALPERN_2015}, Example 4.1",
        verdicts=yes(TWO_HP, where, "V1=1", "V2=1")
        + no(MODIFIED, f"{HALPERN_2015}, Example 4.1", "V1=1", "V2=1")
        + yes(MODIFIED, f"{HALPERN_2015}, Example 4.1", "V1=1, V2=1")
        + yes(ALL_HP, COMPUTED, "M=2"),
        notes=("Why AC2(b) must not ask that variables on the way keep their actual values: the count changes.",),
    )


@OVERDETERMINATION
def voting_machine_optical() -> Example:
    """A -> B, C -> D -> WIN <- A, B -> D' -> WIN, and A -| D'."""
    where = f"after {HALPERN_2008}; also {HALPERN_2016}, Section 2.8"
    return Example(
        title="Optical voting machine",
        story="A votes for the candidate. Two scanners read the vote; one collector asks whether both have it, another "
        "whether the first has it and A did not vote. The candidate wins by the vote or by either collector.",
        text="""
            A "A's vote"
            B "the first scanner's reading" = A
            C "the second scanner's reading" = A
            D "the collector of both" = B and C
            D' "the collector of the first alone" = B and not A
            WIN = A or D or D'
        """,
        context={"A": 1},
        source=where,
        verdicts=yes(ORIGINAL, COMPUTED, "B=1", "C=1")
        + no(UPDATED, where, "B=1", "C=1")
        + yes(UPDATED, where, "B=1, C=1")
        + yes(BUT_FOR + ALL_HP, COMPUTED, "A=1")
        + no(MODIFIED, COMPUTED, "B=1", "C=1", "B=1, C=1"),
        notes=(
            "By the original definition every cause is a single assignment. This is the known example of a cause by "
            "the updated one that is not: B=1 and C=1 together.",
        ),
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
        verdicts=yes(BUT_FOR + ALL_HP, where, "A=100") + no(BUT_FOR + ALL_HP, where, "B=60"),
        notes=(
            "B is no cause by the original and the updated definition either, because the first company dumps all or "
            "nothing here. Could it also have dumped 50 kg, B would be a cause by these two, and still not by the "
            "modified one.",
            "With a threshold of 120 kg both are causes; with 50 kg either is enough, as in forest-fire-disjunctive.",
        ),
    )

"""Rules that decide by several votes, and what was not done."""

from .citations import BEEBEE, GLYMOUR, HALPERN_2014, HALPERN_2015, HH_2015, WESLAKE
from .example import ALL_HP, BUT_FOR, MODIFIED, TWO_HP, UPDATED, Example, Theme, no, yes

RULES_AND_OMISSIONS = Theme("Rules and omissions")


@RULES_AND_OMISSIONS
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
        source=f"{WESLAKE}; {HALPERN_2014}",
        verdicts=yes(TWO_HP, where, "A=1") + no(MODIFIED, where, "A=1") + yes(BUT_FOR + ALL_HP, where, "B=-1", "C=-1"),
    )


@RULES_AND_OMISSIONS
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
        source=f"{GLYMOUR}; {where}",
        verdicts=yes(BUT_FOR + TWO_HP, where, "A1=1") + yes(UPDATED, where, "A2=1", "A3=0"),
        notes=("That a vote against the outcome should have caused it is the complaint of Glymour and his coauthors.",),
    )


@RULES_AND_OMISSIONS
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
        source=f"{BEEBEE}; {where}",
        verdicts=yes(BUT_FOR + UPDATED, where, "G=0", "N=0"),
        notes=("The two are alike in the model; only what is normal, or owed, sets them apart.",),
    )

"""Rules that decide by several votes, and what was not done."""

from .citations import BEEBEE, COMPUTED, GLYMOUR, HALPERN_2014, HALPERN_2015, HH_2015, WESLAKE
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
def combination_lamp_mechanisms() -> Example:
    """A, B, C -> N-1, N0, N1 -> L."""
    return Example(
        title="Combination lamp that counts",
        story="As the combination lamp, built so that a counter for each position lights the lamp when at least two "
        "dials are there.",
        text="""
            A "the first dial" in -1..1
            B "the second dial" in -1..1
            C "the third dial" in -1..1
            NL "two dials at -1" = (A == -1) + (B == -1) + (C == -1) >= 2
            NM "two dials at 0" = (A == 0) + (B == 0) + (C == 0) >= 2
            NH "two dials at 1" = (A == 1) + (B == 1) + (C == 1) >= 2
            L = NL or NM or NH
        """,
        context={"A": 1, "B": -1, "C": -1},
        source=f"after {HALPERN_2014}",
        verdicts=no(ALL_HP, COMPUTED, "A=1") + yes(ALL_HP, COMPUTED, "B=-1", "C=-1"),
        notes=("The same lamp from outside; with this mechanism no HP definition blames the first dial any more.",),
    )


@RULES_AND_OMISSIONS
def fancy_lamp() -> Example:
    """A, B, C -> N-1, N0, N1 -> L."""
    return Example(
        title="Fancy lamp",
        story="As the combination lamp, with a sensor for each position that lights the lamp when no dial is there.",
        text="""
            A "the first dial" in -1..1
            B "the second dial" in -1..1
            C "the third dial" in -1..1
            NL "no dial at -1" = A != -1 and B != -1 and C != -1
            NM "no dial at 0" = A != 0 and B != 0 and C != 0
            NH "no dial at 1" = A != 1 and B != 1 and C != 1
            L = NL or NM or NH
        """,
        context={"A": 1, "B": -1, "C": -1},
        source=f"after {WESLAKE}, the fancy lamp",
        verdicts=yes(ALL_HP, COMPUTED, "A=1", "B=-1", "C=-1"),
        notes=(
            "The same lamp from outside, by another mechanism: here the first dial keeps to a place that had to be "
            "left free, and all HP definitions count it.",
            "Weslake's text was not at hand; the sensors are as others report them. Intuition is said to acquit the "
            "first dial here too. By the definitions' own words it is a cause: with A at 0 while NH stayed 0, the lamp "
            "is off.",
        ),
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
        verdicts=yes(BUT_FOR + TWO_HP, where, "A1=1")
        + yes(UPDATED, where, "A2=1", "A3=0")
        + yes(MODIFIED, f"{HALPERN_2015}, Example 3.7", "A1=1")
        + no(MODIFIED, f"{HALPERN_2015}, Example 3.7", "A2=1", "A3=0", "A4=0", "A5=0")
        + yes(MODIFIED, COMPUTED, "A2=1, A3=0", "A2=1, A4=0", "A2=1, A5=0"),
        notes=(
            "That a vote against the outcome should have caused it is the complaint of Glymour and his coauthors.",
            "Erratum: Halpern 2015, Example 3.7, has A1=1 as the only cause by the modified definition. By its own "
            "words A2=1 together with A3=0 is another, and so with A4=0 or A5=0: had the second vote been 0 and the "
            "third 1, the majority would have decided for 0, and neither change alone does that. So a vote against "
            "the outcome remains a part of a cause; ranch-mechanisms has a model in which it does not.",
        ),
    )


@RULES_AND_OMISSIONS
def ranch_mechanisms() -> Example:
    """A1 ... A5 -> M1, M2, M3 -> O."""
    where = f"{HALPERN_2014}, the ranch with its mechanisms"
    return Example(
        title="The ranch, with its mechanisms",
        story="As the ranch, with a variable for each rule: what it says, or 2 where it does not apply. "
        "The first two agree, so the first rule decides.",
        text="""
            A1 "the first vote"
            A2 "the second vote"
            A3 "the third vote"
            A4 "the fourth vote"
            A5 "the fifth vote"
            M1 "the agreement of the first two" in 0..2 = A1 if A1 == A2 else 2
            M2 "the first against all" in 0..2 = A1 if A1 != A2 and A2 == A3 == A4 == A5 else 2
            M3 "the majority" = A1 + A2 + A3 + A4 + A5 > 2
            O in 0..1 = M1 if M1 != 2 else M2 if M2 != 2 else M3
        """,
        context={"A1": 1, "A2": 1, "A3": 0, "A4": 0, "A5": 0},
        source=f"after {where}",
        verdicts=yes(UPDATED, where, "A1=1", "A2=1")
        + no(UPDATED, where, "A3=0", "A4=0", "A5=0")
        + yes(MODIFIED, COMPUTED, "A1=1", "A2=1", "M1=1")
        + no(MODIFIED, COMPUTED, "A3=0", "A2=1, A3=0"),
        notes=("Now the votes against the outcome are neither causes nor parts of one.",),
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
        notes=(
            "The two are alike in the model; only what is normal, or owed, sets them apart.",
            "Beebee herself argues that there is no causation by absence.",
        ),
    )

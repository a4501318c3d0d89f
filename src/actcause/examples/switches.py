"""Transitivity and switches: causes of causes, and different ways to one end."""

from .citations import (
    COMPUTED,
    HALL_2007,
    HALPERN_2015,
    HALPERN_2016,
    HH_2010,
    HITCHCOCK,
    HP_2005,
    LEWIS,
    MCDERMOTT,
    WESLAKE,
)
from .example import ALL_HP, BUT_FOR, MODIFIED, TWO_HP, UPDATED, Example, Theme, no, yes

SWITCHES = Theme("Transitivity and switches")


@SWITCHES
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
        source=f"{where}; {HALPERN_2016}, Section 2.3",
        verdicts=yes(UPDATED, where, "TT=0") + no(UPDATED, where, "MT=1"),
        notes=("Monday's treatment causes the lack of Tuesday's, that one causes survival, but the chain breaks.",),
    )


@SWITCHES
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
        source=f"{HITCHCOCK}; attributed there to Hall",
        verdicts=yes(BUT_FOR, HITCHCOCK, "D=1") + no(BUT_FOR, HITCHCOCK, "B=1"),
        notes=("The boulder made the hiker duck and ducking saved a life, yet the boulder did not save it.",),
    )


@SWITCHES
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
        source=f"{MCDERMOTT}; {where}",
        verdicts=no(BUT_FOR, MCDERMOTT, "D=1") + no(ALL_HP, where, "D=1") + yes(ALL_HP, where, "P=2"),
    )


@SWITCHES
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
        source=f"{where}; after {HALL_2007}",
        verdicts=no(BUT_FOR, HALL_2007, "F=1") + yes(ALL_HP, where, "F=1"),
        notes=("With one variable for the track it is not a cause: see switching-railroad-tracks.",),
    )


@SWITCHES
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
        source=f"{HH_2010}, Example 4; {where}",
        verdicts=no(BUT_FOR, where, "F=1") + yes(TWO_HP, where, "F=1") + no(MODIFIED, where, "F=1"),
    )


@SWITCHES
def both_tracks_blocked() -> Example:
    """F -> A, LB -| A, RB -| A."""
    where = f"{HALPERN_2016}, Example 2.3.6, with both tracks blocked"
    return Example(
        title="Both tracks blocked",
        story="An engineer sends a train along the right-hand track. Both tracks are blocked, and it does not arrive.",
        text="""
            F "the flip of the switch"
            LB "the block on the left"
            RB "the block on the right"
            A = not RB if F else not LB
        """,
        context={"F": 1, "LB": 1, "RB": 1},
        effect="A == 0",
        source=f"after {HH_2010}, Example 4; {where}",
        verdicts=no(BUT_FOR, COMPUTED, "F=1")
        + yes(TWO_HP, where, "F=1")
        + no(MODIFIED, where, "F=1")
        + yes(MODIFIED, COMPUTED, "RB=1", "F=1, LB=1"),
        notes=("By the modified definition the flip is only a part of a cause, together with the block on the left.",),
    )


@SWITCHES
def push_a() -> Example:
    """P, T, B -> H -> D."""
    return Example(
        title="Push, to the left or not at all",
        story="Somebody is pushed out of the way of a bus and into that of a truck, which kills. "
        "Without the push the bus would have.",
        text="""
            P "the push"
            T "the truck's coming"
            B "the bus's coming"
            H "the collision" = T if P else B
            D = H
        """,
        context={"P": 1, "T": 1, "B": 1},
        source=f"after {WESLAKE}, Push A",
        verdicts=no(BUT_FOR, COMPUTED, "P=1")
        + yes(TWO_HP, COMPUTED, "P=1")
        + no(MODIFIED, COMPUTED, "P=1")
        + yes(BUT_FOR + ALL_HP, COMPUTED, "T=1"),
        notes=("Weslake's text was not at hand: the equations are as others report them, the story is ours.",),
    )


@SWITCHES
def push_b() -> Example:
    """P, T, B -> H -> D."""
    return Example(
        title="Push, with a way to safety",
        story="As the push, but it could also have gone the other way (P=2), to where neither truck nor bus comes.",
        text="""
            P "the push" in 0..2
            T "the truck's coming"
            B "the bus's coming"
            H "the collision" = T if P == 1 else B if P == 0 else 0
            D = H
        """,
        context={"P": 1, "T": 1, "B": 1},
        source=f"after {WESLAKE}, Push B",
        verdicts=yes(BUT_FOR + ALL_HP, COMPUTED, "P=1", "T=1") + no(BUT_FOR + MODIFIED, COMPUTED, "B=1"),
        notes=(
            "One more value, and the push becomes a cause by all of these: what could have happened instead counts.",
            "Weslake's text was not at hand: the equations are as others report them, the story is ours.",
        ),
    )


@SWITCHES
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
        source=f"{MCDERMOTT}; {LEWIS}; also {WESLAKE}",
        verdicts=no(BUT_FOR, LEWIS, "A=1") + yes(BUT_FOR, LEWIS, "B=1"),
        notes=("Lewis counts A's move as a cause, since causation is transitive for him; McDermott does not.",),
    )

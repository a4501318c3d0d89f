"""Preemption: one cause forestalls another."""

from .citations import HALPERN_2015, HALPERN_2016, HH_2015, HITCHCOCK, HOPKINS_PEARL, HP_2005, PEARL, SCHAFFER, WESLAKE
from .example import ALL_HP, BUT_FOR, MODIFIED, ORIGINAL, TWO_HP, UPDATED, Example, Theme, no, yes

PREEMPTION = Theme("Preemption")


@PREEMPTION
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
        verdicts=yes(TWO_HP, where, "ST=1", "BT=1") + no(MODIFIED, where, "BT=1") + yes(MODIFIED, where, "ST=1, BT=1"),
    )


@PREEMPTION
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
        source=f"{HITCHCOCK}; also {WESLAKE}, Example 1",
        verdicts=no(BUT_FOR, HITCHCOCK, "T=1") + yes(UPDATED, f"{HH_2015}, on preemption", "T=1"),
    )


@PREEMPTION
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
        source=f"{PEARL}, the desert traveler; after McLaughlin 1925",
        verdicts=no(BUT_FOR, PEARL, "X=1"),
        notes=("Pearl's own account, by causal beams, names the shot and not the poison.",),
    )


@PREEMPTION
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
        source=f"{where}; after {SCHAFFER}",
        verdicts=yes(UPDATED, where, "M=1") + no(UPDATED, where, "S=1"),
    )


@PREEMPTION
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
        source=f"{HOPKINS_PEARL}; {HALPERN_2016}, Example 2.8.1",
        verdicts=yes(BUT_FOR + ALL_HP, f"{HALPERN_2016}, Example 2.8.1", "C=1")
        + yes(ORIGINAL, HOPKINS_PEARL, "A=1")
        + no(UPDATED, HP_2005, "A=1")
        + no(MODIFIED, HALPERN_2015, "A=1"),
        notes=("This example is why the definition of 2001 was updated.",),
    )


@PREEMPTION
def loader_refined() -> Example:
    """A, B -> B' -> D <- C."""
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
        verdicts=no(ORIGINAL, f"{HALPERN_2016}, Chapter 4, on conservative extensions", "A=1"),
        notes=("With this variable even the original definition acquits A.",),
    )

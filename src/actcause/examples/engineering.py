"""Engineering: what failed, and what broke because of it."""

from .citations import COMPUTED, NUREG_0492
from .example import ALL_HP, BUT_FOR, MODIFIED, TWO_HP, Example, Theme, no, yes

ENGINEERING = Theme("Engineering")


@ENGINEERING
def pressure_tank() -> Example:
    """S1, K1, R -> E5, E4 -> E3 <- S, E3 -> E2 <- K2, E2 -> E1 <- T."""
    return Example(
        title="Pressure tank",
        story="A pump fills a tank until a pressure switch stops it; a timer is the second guard. The switch stuck, "
        "and so did the timer relay and the relay K1 that it drives. The tank ruptured.",
        text="""
            E1 "the rupture of the tank" = T or E2
            E2 "the pumping for too long" = K2 or E3
            E3 "the current in the coil of K2 for too long" = S and E4
            E4 "the current to the pressure switch" = S1 or E5
            E5 "the current through the contacts of K1" = K1 or R
            T "the tank's own failure"
            K2 "the sticking of relay K2"
            S "the sticking of the pressure switch"
            S1 "the sticking of switch S1"
            K1 "the sticking of relay K1"
            R "the sticking of the timer relay"
        """,
        context={"T": 0, "K2": 0, "S": 1, "S1": 0, "K1": 1, "R": 1},
        outcome="E1",
        source=f"{NUREG_0492}, chapter VIII, the reduced tree",
        verdicts=yes(BUT_FOR + ALL_HP, COMPUTED, "S=1")
        + yes(TWO_HP, COMPUTED, "K1=1", "R=1")
        + no(BUT_FOR + MODIFIED, COMPUTED, "K1=1", "R=1")
        + yes(MODIFIED, COMPUTED, "K1=1, R=1"),
        notes=("examples.path('pressure-tank.xml') is the same tree in the Open-PSA format, with probabilities.",),
    )

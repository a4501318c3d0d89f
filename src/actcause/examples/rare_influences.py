"""Context-specific independence: almost nothing could have mattered."""

from .citations import BEEBEE, FAC, FAC_MORE
from .example import BUT_FOR, FUNCTIONAL, MODIFIED, SUFFICIENCY, Example, Theme, no, yes

RARE_INFLUENCES = Theme("Where almost nothing could have mattered", alpha_necessity=0.01)


@RARE_INFLUENCES
def mover_1d() -> Example:
    """Diagram: m -> m' <- o."""
    where = f"{FAC}, 1D Mover"
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
        alpha_sufficiency=0.4,
        verdicts=yes(FUNCTIONAL, where, "m=0, o=1") + no(FUNCTIONAL, where, "m=0", "o=1"),
    )


@RARE_INFLUENCES
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
        alpha_sufficiency=0.2,
        verdicts=yes(MODIFIED + SUFFICIENCY, f"{FAC_MORE}, Discrete 1D Pusher", "X=200"),
        notes=("The publication gives no shares for this example; those of the rocket ship serve it as well.",),
    )


@RARE_INFLUENCES
def rocket_ship() -> Example:
    """T1 -> Y <- T2, X -| Y."""
    where = f"{FAC_MORE}, Rocket Ship"
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
        alpha_sufficiency=0.2,
        verdicts=yes(MODIFIED + SUFFICIENCY, where, "X=200") + yes(FUNCTIONAL, where, "T1=1, T2=1"),
    )


@RARE_INFLUENCES
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
        alpha_sufficiency=0.2,
        verdicts=yes(MODIFIED + SUFFICIENCY, f"{FAC_MORE}, Offensive Chatbot", "E=200"),
        notes=(
            "U is the user, an ordinary root that can be a cause; it is not exogenous.",
            "The publication gives no shares for this example; those of the rocket ship serve it as well.",
        ),
    )


@RARE_INFLUENCES
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
        alpha_sufficiency=0.2,
        source=f"{BEEBEE}; {FAC}, Illustrative Example",
        verdicts=yes(BUT_FOR, f"{BEEBEE}, as what counterfactual accounts have to say", "G=0", "Q=7"),
        notes=(
            "Beebee draws the opposite conclusion from this case: there is no causation by absence, of the gardener's "
            "neither. What is withheld explains; it does not cause.",
            "Hardly anybody blames the Queen; what the definitions miss is how rare her watering them would be.",
            "The number of things that she might do, and the shares, are ours.",
        ),
    )

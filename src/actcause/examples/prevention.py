"""Prevention and threats: what keeps an effect from happening, or would have."""

from .citations import (
    COMPUTED,
    HALL_2004,
    HALL_2007,
    HALPERN_2015,
    HALPERN_2016,
    HH_2010,
    HH_2015,
    HIDDLESTON,
    HITCHCOCK_2007,
    HP_2005,
    WESLAKE,
)
from .example import ALL_HP, BUT_FOR, MODIFIED, ORIGINAL, TWO_HP, UPDATED, Example, Theme, no, yes

PREVENTION = Theme("Prevention and threats")


@PREVENTION
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
        source=f"{HITCHCOCK_2007}, after {HIDDLESTON}; also {HALPERN_2016}, Example 3.4.1",
        verdicts=no(BUT_FOR, HITCHCOCK_2007, "A=1")
        + yes(TWO_HP, where, "A=1")
        + no(MODIFIED, where, "A=1")
        + yes(MODIFIED, where, "P=0, A=1"),
        notes=(
            "Nearly everyone says that the antidote did nothing. The equations are those of "
            "forest-fire-disjunctive, where nearly everyone says that each fire-raiser counts.",
        ),
    )


@PREVENTION
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
        source=f"{where}; {HH_2015}, on bogus prevention",
        verdicts=no(UPDATED, where, "A=1") + yes(UPDATED, where, "P=0"),
    )


@PREVENTION
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
        source=f"{HALL_2007}; {where}",
        verdicts=no(BUT_FOR, HALL_2007, "C=1") + yes(TWO_HP, where, "C=1") + no(MODIFIED, where, "C=1"),
    )


@PREVENTION
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
        source=f"{HALL_2007}, on short circuits",
        verdicts=no(BUT_FOR, HALL_2007, "C=1")
        + yes(UPDATED, f"{HALL_2007}, of the Halpern-Pearl account", "C=1")
        + yes(ORIGINAL + MODIFIED, COMPUTED, "C=1"),
        notes=(
            "All three Halpern-Pearl definitions say that C is a cause: had C been 0 while T stayed 1, E would have "
            "been 0. Hall denies it: C cancels itself out.",
        ),
    )


@PREVENTION
def careful_poisoning() -> Example:
    """A -> S, A -> P -| S."""
    where = f"{HALPERN_2015}, Example 3.10"
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
        source=f"{where}; after {HITCHCOCK_2007}; also {WESLAKE}",
        verdicts=no(BUT_FOR, where, "A=1") + yes(ALL_HP, where, "A=1"),
        notes=("Most say no; Halpern and Hitchcock answer with an order of what is normal on top of the definition.",),
    )


@PREVENTION
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
        source=f"{HALL_2004}; {where}",
        verdicts=yes(BUT_FOR, HALL_2004, "BPT=1") + yes(UPDATED, where, "BPT=1"),
        notes=("For Hall the target's end depends on Billy's shot without being produced by it.",),
    )


@PREVENTION
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
        source=f"{HALL_2004}; {where}",
        verdicts=no(BUT_FOR, where, "BPT=1") + yes(UPDATED, where, "BPT=1"),
    )

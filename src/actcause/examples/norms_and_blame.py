"""Norms and blame: equal causes that people judge differently, and what those involved did not know."""

from .citations import CHOCKLER_HALPERN, COMPUTED, HH_2015, KNOBE_FRASER
from .example import ALL_HP, BUT_FOR, Example, Theme, no, yes

NORMS_AND_BLAME = Theme("Norms and blame")


@NORMS_AND_BLAME
def pens() -> Example:
    """P -> E <- A."""
    where = f"{HH_2015}, on the experiment with the pens"
    return Example(
        title="Knobe's pens",
        story="Administrative assistants may take pens from the receptionist's desk, professors may not. "
        "One of each takes a pen, no pen is left, and the receptionist needs one.",
        text="""
            P "the professor's taking of a pen"
            A "the assistant's taking of a pen"
            E = P and A
        """,
        context={"P": 1, "A": 1},
        source=f"{KNOBE_FRASER}; {where}",
        verdicts=yes(BUT_FOR + ALL_HP, where, "P=1", "A=1"),
        notes=(
            "The model treats both alike. People name the professor, whose act is the abnormal one; Halpern and "
            "Hitchcock rank causes by how normal their witnesses are, with P=0 and A=1 as what is normal.",
        ),
    )


@NORMS_AND_BLAME
def ten_marksmen() -> Example:
    """L, S1 ... S10 -> D."""
    shots = [f"S{i}" for i in range(1, 11)]
    fatal = " or ".join(f"L == {i} and {shot}" for i, shot in enumerate(shots, 1))
    return Example(
        title="Ten marksmen",
        story="Ten marksmen shoot at a prisoner, who dies. Only one rifle has live bullets, and nobody knows which.",
        text="\n".join(["exogenous L in 1..10", *shots, f"D = {fatal}"]),
        context={"L": 1, **dict.fromkeys(shots, 1)},
        source=f"{CHOCKLER_HALPERN}, the firing squad with one live bullet",
        verdicts=yes(BUT_FOR + ALL_HP, CHOCKLER_HALPERN, "S1=1")
        + no(ALL_HP, CHOCKLER_HALPERN, "S2=1", "S10=1")
        + no(BUT_FOR, COMPUTED, "S2=1"),
        notes=(
            "The marksman with the live bullets is fully responsible and the others not at all; each of the ten, "
            "who think every rifle equally likely, has a degree of blame of 1/10.",
        ),
    )

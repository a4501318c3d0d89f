"""The eight examples with published tables of functional actual causes."""

from .citations import FAC_TABLES, HALL_2004, HALPERN_2015, HALPERN_2016, HP_2005, ROSENBERG, SCHAFFER
from .example import ALL_HP, BUT_FOR, FUNCTIONAL, MODIFIED, TWO_HP, UPDATED, Example, Theme, no, yes

PUBLISHED_TABLES = Theme("Published tables of functional causes", alpha_necessity=0.01)


@PUBLISHED_TABLES
def rock_throwing() -> Example:
    """ST -> SH -> BS <- BH <- BT, and SH -| BH."""
    where = f"{HALPERN_2016}, Example 2.3.3"
    return Example(
        title="Rock throwing (late preemption)",
        story="Suzy and Billy both throw a rock at a bottle. Suzy's arrives first and shatters it; Billy's would have.",
        text="""
            SH "Suzy's hit" = ST
            ST "Suzy's throw"
            BH "Billy's hit" = BT and not SH
            BT "Billy's throw"
            BS = SH or BH
        """,
        context={"ST": 1, "BT": 1},
        alpha_sufficiency=1,
        source=f"{HALPERN_2016}, Example 2.3.3; after Hall 2004 and Lewis 1986",
        verdicts=no(BUT_FOR, f"{HALPERN_2015}, Introduction", "ST=1")
        + yes(ALL_HP, where, "ST=1")
        + no(ALL_HP, where, "BT=1"),
        notes=(
            "There are 32 minimal binary-subset pairs. The publication prints 28 of them: "
            "the four in which each state is a part by itself are missing.",
        ),
    )


@PUBLISHED_TABLES
def forest_fire() -> Example:
    """April, May, June -> Fire."""
    where = f"{FAC_TABLES}, Forest Fire"
    return Example(
        title="Forest fire (April rain, May and June storms)",
        story="It rained in April, so the electrical storm in May did not set the forest on fire; the one in June did. "
        "Fire tells the month: 0 for no fire, 1 for May, 2 for June.",
        text="""
            April "the rain in April"
            May "the storm in May"
            June "the storm in June"
            Fire in {0, 1, 2} = 1 if May and not April else 2 if June else 0
        """,
        context={"April": 1, "May": 1, "June": 1},
        effect="Fire == 2",
        alpha_sufficiency=0.2,
        source=f"{HALPERN_2016}, Example 7.1.4; equations as in {FAC_TABLES}, Forest Fire",
        verdicts=yes(FUNCTIONAL, where, "April=1, June=1")
        + no(FUNCTIONAL, where, "April=1", "May=1")
        + yes(UPDATED, f"{HP_2005}, Example on rain in April", "April=1"),
        notes=(
            "Halpern and Pearl use one variable for both storms: by them the rain caused a fire in June, "
            "but it did not cause that there was a fire at all.",
        ),
    )


@PUBLISHED_TABLES
def gang_execution() -> Example:
    """Gang <- Leader -> Death."""
    where = f"{FAC_TABLES}, Gang Execution"
    return Example(
        title="Gang execution",
        story="A gang shoots when its leader does. The leader shoots, the gang shoots too, and the victim dies.",
        text="""
            Gang "the gang's shots" = Leader
            Leader "the leader's shot"
            Death = Leader
        """,
        context={"Leader": 1},
        alpha_sufficiency=1,
        source=f"{ROSENBERG}, Section 4; equations as in {FAC_TABLES}, Gang Execution",
        verdicts=yes(FUNCTIONAL, where, "Leader=1") + no(FUNCTIONAL, where, "Gang=1"),
        notes=("The published table has the two states 00 and 11 only; it needs Gang = Leader and Death = Leader.",),
    )


@PUBLISHED_TABLES
def halt_and_charge() -> Example:
    """Major -> Corporal <- Sergeant; Major trumps."""
    where = f"{HALPERN_2016}, Example 2.3.7"
    return Example(
        title="Halt and charge (trumping)",
        story="Major and sergeant both order the corporal to charge, and he charges. "
        "The sergeant counts only while the major gives no order (Major=2).",
        text="""
            Major "the major's order" in 0..2
            Sergeant "the sergeant's order"
            Corporal = Sergeant if Major == 2 else Major
        """,
        context={"Major": 1, "Sergeant": 1},
        alpha_sufficiency=0.3,
        source=f"{HALPERN_2016}, Example 2.3.7; after {SCHAFFER}; values as in {FAC_TABLES}, Halt and Charge",
        verdicts=yes(FUNCTIONAL, f"{FAC_TABLES}, Halt and Charge", "Major=1")
        + no(FUNCTIONAL, f"{FAC_TABLES}, Halt and Charge", "Sergeant=1")
        + yes(ALL_HP, where, "Major=1")
        + yes(TWO_HP, where, "Sergeant=1")
        + no(MODIFIED, where, "Sergeant=1"),
        notes=("Schaffer holds that the major alone is the cause; see trumping for a model in which all HP agree.",),
    )


@PUBLISHED_TABLES
def switching_railroad_tracks() -> Example:
    """Break -> Track <- Switch, Track -> Arrive."""
    return Example(
        title="Switching railroad tracks",
        story="An engineer flips a switch, and the train takes the right-hand track instead of the left-hand one. "
        "Either leads to the station, unless the line is broken.",
        text="""
            Break "the break in the line"
            Switch "the flip of the switch"
            Track "the track taken" in {0, 1, 2} = 2 if Break else Switch
            Arrive = Track != 2
        """,
        context={"Break": 0, "Switch": 1},
        alpha_sufficiency=1,
        source=f"{HALPERN_2016}, Example 2.3.6; after {HALL_2004}; equations as in {FAC_TABLES}",
        verdicts=no(ALL_HP, f"{HALPERN_2016}, Example 2.3.6, the track as one variable", "Switch=1"),
        notes=("Give each track a variable of its own and the flip becomes a cause: see track-switch.",),
    )


@PUBLISHED_TABLES
def binary_and() -> Example:
    """A -> C <- B."""
    return Example(
        title="Binary And",
        story="The outcome needs both inputs, and both are there.",
        text="A\nB\nC = A and B",
        context={"A": 1, "B": 1},
        alpha_sufficiency=1,
        verdicts=yes(FUNCTIONAL + MODIFIED, f"{FAC_TABLES}, Binary And", "A=1", "B=1"),
    )


@PUBLISHED_TABLES
def binary_or() -> Example:
    """A -> C <- B."""
    where = f"{FAC_TABLES}, Binary Or"
    return Example(
        title="Binary Or",
        story="Either input is enough for the outcome, and both are there.",
        text="A\nB\nC = A or B",
        context={"A": 1, "B": 1},
        alpha_sufficiency=1,
        verdicts=yes(FUNCTIONAL, where, "A=1, B=1") + no(FUNCTIONAL, where, "A=1", "B=1"),
    )


@PUBLISHED_TABLES
def binary_xor() -> Example:
    """A -> C <- B."""
    return Example(
        title="Binary Xor",
        story="The outcome occurs when exactly one of two inputs is there, and one is.",
        text="A\nB\nC = A != B",
        context={"A": 1, "B": 0},
        alpha_sufficiency=1,
        verdicts=yes(FUNCTIONAL, f"{FAC_TABLES}, Binary XOR", "A=1", "B=0"),
    )

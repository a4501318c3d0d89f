"""Time: what happened at one step, and what came of it at a later one."""

from .citations import COMPUTED, HALPERN_2016
from .example import ALL_HP, BUT_FOR, MODIFIED, Example, Theme, no, yes

IN_TIME = Theme("In time")


@IN_TIME
def rock_throwing_in_time() -> Example:
    """ST -> SH -> BS', BT -> BR', BR -> BH -> BS', BS -| SH, BS -| BH."""
    return Example(
        title="Rock throwing, step by step",
        story="Suzy and Billy throw at the same step. Billy stands further away: his rock needs a step longer, and "
        "finds the bottle shattered.",
        text="""
            ST "Suzy's throw"
            BT "Billy's throw"
            BR "the nearing of Billy's rock" = 0
            BR' = BT
            SH "Suzy's hit" = ST and not BS
            BH "Billy's hit" = BR and not BS
            BS = 0
            BS' = BS or SH or BH
        """,
        steps=2,
        context={"ST@0": 1, "BT@0": 1, "ST@1": 0, "BT@1": 0, "ST@2": 0, "BT@2": 0},
        outcome="BS@2",
        source=f"After rock throwing, {HALPERN_2016}, Example 2.3.3; the steps are ours",
        verdicts=yes(ALL_HP, COMPUTED, "ST@0=1", "BS@1=1")
        + no(BUT_FOR, COMPUTED, "ST@0=1")
        + no(BUT_FOR + MODIFIED, COMPUTED, "BT@0=1"),
        notes=("Which rock came first is not told by a variable of its own here: it follows from time.",),
    )


@IN_TIME
def overflowing_tank() -> Example:
    """stuck, level -> reading -> pump -> level', drain -> level'."""
    return Example(
        title="The overflowing tank",
        story="A pump runs while the sensor reads less than 4, and fills faster than the drain empties. The sensor "
        "sticks at 0 from step 2 on, and at step 5 the tank is full.",
        text="""
            stuck "the sticking of the sensor"
            drain "the open drain"
            level in 0..6 = 3
            reading = 0 if stuck else level
            pump "the running of the pump" = reading < 4
            level' = max(0, min(6, level + 2 * pump - drain))
            alarm = level == 6
        """,
        steps=5,
        context={f"drain@{step}": 1 for step in range(6)} | {f"stuck@{step}": int(step > 1) for step in range(6)},
        outcome="alarm@5",
        source="Ours, 2026, after the tanks with a level switch of textbooks of control",
        verdicts=yes(BUT_FOR + MODIFIED, COMPUTED, "stuck@3=1", "stuck@4=1")
        + no(BUT_FOR, COMPUTED, "stuck@2=1", "stuck@5=1"),
        notes=("At step 2 the level was low, so that the pump would have run anyway: that it stuck then is no cause.",),
    )

"""Many trainings at once: every combination of some settings, each in a process of its own, and the best of them.

    actcause train break.parquet --out sweep --sweep penalty=0.01,0.02,0.05 seed=0..9 --workers 4

    sweep/sweep.json                      what is swept over
    sweep/penalty=0.01,seed=0/            a run, as `actcause train` writes one
    sweep/table.csv, table.json           all of them with their verdicts, best first
    sweep/table.svg                       a picture of it, where matplotlib is installed

The same command goes on where it stopped: verdicts are in `table.json`, and until that is written in a hidden journal
beside it. `grid` reads what is to be combined, `trial` trains and judges one combination, `sweep` has all of them done
by an engine, `ranking` puts them in order.
"""

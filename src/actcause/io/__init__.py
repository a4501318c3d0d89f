"""Files written whole, and journals to go on from."""

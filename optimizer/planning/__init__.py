"""The parts of the plan: what is taken back from whom, how pools are cut, what that saves. Pure."""

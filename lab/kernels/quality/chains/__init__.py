"""A small trained transformer whose answers need state that plain reuse loses."""

"""Page selection (CHESS; Quest): a decode step of a long request reads only the pages that matter to it."""

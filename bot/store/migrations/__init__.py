"""The migrations, in the wheel. Each one only adds, so that the release before still runs beside the new one."""

"""The steps of a job: what each kind of job does between its claim and its report."""

"""The worker: takes what happened out of the inbox, thinks, and carries out the outbox."""

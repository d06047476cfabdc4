"""What people and runners ask of the bot over HTTP, beside the webhook."""

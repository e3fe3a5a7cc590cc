"""What the rooms of any game share. Each file is named as the room that it serves."""

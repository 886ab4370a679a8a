"""What is simulated: scenes, their objects and textures, and the files that describe them."""

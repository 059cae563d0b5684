"""What is asked, a script for each subject: each makes its own topics and leaves nothing behind that others see."""

"""The HTTP shell: what every service needs of HTTP, once. A service brings routes and error numbers of its own."""

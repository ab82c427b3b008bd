module example.org/broadcasting

go 1.18

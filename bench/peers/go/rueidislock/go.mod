module holdfast/bench/peer/rueidislock

go 1.25.0

replace holdfast/bench/peer => ../

require (
	github.com/redis/rueidis v1.0.79
	holdfast/bench/peer v0.0.0
)

require golang.org/x/sys v0.47.0 // indirect

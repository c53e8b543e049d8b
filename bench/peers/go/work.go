package peer

import (
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A sample has the fields of bench/base/load.ts.
type sample struct {
	Pairs   int       `json:"pairs"`
	Total   int       `json:"total"`
	Waits   []float64 `json:"waits"`
	Stays   []float64 `json:"stays"`
	Crowded int       `json:"crowded"`
	Visits  []int     `json:"visits"`
	Held    float64   `json:"held"`
	CPU     float64   `json:"cpu"`
	Asleep  int       `json:"asleep"`
	Longest float64   `json:"longest"`
}

// A caller's sample is read while it may still be asleep.
type diary struct {
	sync.Mutex
	sample
	gone       bool
	waitsSince float64 // 0: it does not wait
}

// now is CLOCK_MONOTONIC in ms, as all processes of the machine see it.
func now() float64 {
	var at unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &at)
	return float64(at.Nano()) / 1e6
}

// cpu is user and system, in µs.
func cpu() float64 {
	var used unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &used)
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e3
}

func sleepUntil(at float64) {
	time.Sleep(time.Duration((at - now()) * 1e6))
}

// A caller takes and frees one lock until the time is over, and keeps what it saw.
func (seen *diary) caller(one Locker, name string, inside *atomic.Int32, asked request) error {
	from := asked.StartAt + 1000*asked.Warm
	until := from + 1000*asked.Seconds
	for began := now(); began < until; began = now() {
		seen.waits(began)
		free, err := one.Acquire(name)
		if err != nil {
			return err
		}
		had := now()
		seen.enters(began, had, from)
		crowded := inside.Add(1) > 1
		if asked.HoldMs > 0 {
			time.Sleep(time.Duration(asked.HoldMs * 1e6))
		}
		inside.Add(-1)
		left := now()
		seen.Lock()
		seen.note(began, had, left, from, until)
		if crowded {
			seen.Crowded++
		}
		seen.Unlock()
		if err := free(); err != nil {
			return err
		}
	}
	seen.Lock()
	seen.gone = true
	seen.Unlock()
	return nil
}

func (seen *diary) waits(since float64) {
	seen.Lock()
	defer seen.Unlock()
	seen.waitsSince = since
}

func (seen *diary) enters(began, had, from float64) {
	seen.Lock()
	defer seen.Unlock()
	seen.waitsSince = 0
	if had >= from {
		seen.Longest = max(seen.Longest, had-began)
	}
}

func (seen *sample) note(began, had, left, from, until float64) {
	seen.Total++
	if had >= from && had < until {
		seen.Pairs++
	}
	if began >= from {
		seen.Waits = append(seen.Waits, had-began)
	}
	seen.Held += left - had
	seen.Stays = append(seen.Stays, 1000*had, 1000*left)
}

func (all *sample) add(seen *diary) {
	seen.Lock()
	defer seen.Unlock()
	all.Pairs += seen.Pairs
	all.Total += seen.Total
	all.Crowded += seen.Crowded
	all.Visits = append(all.Visits, seen.Pairs)
	all.Held += seen.Held
	all.Waits = append(all.Waits, seen.Waits...)
	all.Stays = append(all.Stays, seen.Stays...)
	all.Longest = max(all.Longest, seen.Longest)
	if seen.waitsSince > 0 {
		all.Longest = max(all.Longest, now()-seen.waitsSince)
	}
	if !seen.gone {
		all.Asleep++
	}
}

// work lets all callers go at once, each on a lock of its own or all on one, with the client of the process or in turn with one of
// several; whoever has missed its wake-up stays behind.
func work(lockers []Locker, asked request) (sample, error) {
	inside := make([]atomic.Int32, len(asked.Names))
	seen := make([]diary, asked.Callers)
	ends := make(chan error, asked.Callers)
	sleepUntil(asked.StartAt)
	spent := cpu()
	for i := range asked.Callers {
		place := i % len(asked.Names)
		go func() { ends <- seen[i].caller(lockers[i%len(lockers)], asked.Names[place], &inside[place], asked) }()
	}
	over := asked.StartAt + 1000*(asked.Warm+asked.Seconds) + asked.Patience
	late := time.After(time.Duration((over - now()) * 1e6))
	for range asked.Callers {
		select {
		case err := <-ends:
			if err != nil {
				return sample{}, err
			}
			continue
		case <-late:
		}
		break
	}
	all := sample{Waits: []float64{}, Stays: []float64{}, CPU: cpu() - spent}
	for i := range seen {
		all.add(&seen[i])
	}
	// Stays at different locks may overlap.
	if len(asked.Names) > 1 {
		all.Stays = []float64{}
	}
	return all, nil
}

package main

import (
	"errors"
	"math"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"holdfast/bench/peer"
)

type redsyncLocker struct{ sync *redsync.Redsync }

// open sets it up as its README does, on one go-redis client.
func open(url string) (peer.Locker, error) {
	options, err := redis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	return &redsyncLocker{redsync.New(goredis.NewPool(redis.NewClient(options)))}, nil
}

// A mutex is one owner. It polls: most often with the shortest delay.
func (one *redsyncLocker) mutex(name string) *redsync.Mutex {
	return one.sync.NewMutex(name,
		redsync.WithExpiry(30*time.Second),
		redsync.WithTries(math.MaxInt32),
		redsync.WithRetryDelay(time.Millisecond))
}

func freeing(mutex *redsync.Mutex) func() error {
	return func() error {
		_, err := mutex.Unlock()
		return err
	}
}

func (one *redsyncLocker) Acquire(name string) (func() error, error) {
	mutex := one.mutex(name)
	return freeing(mutex), mutex.Lock()
}

func (one *redsyncLocker) TryAcquire(name string) (func() error, error) {
	mutex := one.mutex(name)
	err := mutex.TryLock()
	var taken *redsync.ErrTaken
	if errors.Is(err, redsync.ErrFailed) || errors.As(err, &taken) {
		return nil, nil
	}
	return freeing(mutex), err
}

func main() { peer.Main(open) }

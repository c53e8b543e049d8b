/*
 * The fair lock: queue, direct grant, confirm, abort, death, and a Redisson client among ours.
 * Each script is one atomic step. README.md says what stands for what, how time is abstracted, and what is left out.
 */

/* ---- One configuration: small numbers, all from the command line ------------------------------------------------ */

#ifndef OURS
#define OURS 2          /* waiters of ours: owners 1..OURS */
#endif
#ifndef TWINS
#define TWINS 1         /* so many of the first waiters belong to one client */
#endif
#ifndef THEIRS
#define THEIRS 0        /* Redisson waiters, each a client of its own: owners OURS+1.. */
#endif
#ifndef ROUNDS
#define ROUNDS 1        /* more than 1: an owner's name is used again (explicit owners) */
#endif
#ifndef DEATHS
#define DEATHS 0
#endif
#ifndef LOSSES
#define LOSSES 0        /* messages lost */
#endif
#ifndef DOUBLES
#define DOUBLES 0       /* messages doubled */
#endif
#ifndef CUTS
#define CUTS 0          /* connections cut with something unanswered: lost, executed unheard, or executed late */
#endif
#ifndef DROPS
#define DROPS 0         /* subscriptions gone for a while */
#endif
#ifndef ABORTS
#define ABORTS 0
#endif
#ifndef FORCES
#define FORCES 0
#endif
#ifndef SPARE
#define SPARE 0         /* polls that were not needed when they were sent */
#endif
#ifndef OUTSTAYS
#define OUTSTAYS 0      /* how often a living Redisson waiter outstays its deadline */
#endif
#ifndef WINDOWS
#define WINDOWS 0       /* scripts that fall between a short lease's end and the end of its score */
#endif
#ifndef EXPIRES
#define EXPIRES 0       /* a MultiLock's expire on the lock, the queue and the deadlines */
#endif
#ifndef SHIFT
#define SHIFT 2         /* Redisson's wait: 1 below a short lease, 2 up to ours, 3 above ours */
#endif
#ifdef HANDS
#define HAND_TO_HAND(step) step   /* who stands right behind a grant, of the same client, may have it after that without the server */
#else
#define HAND_TO_HAND(step) skip
#endif
#ifdef CONSOLE
#define PATTERN true    /* somebody subscribes to everything: PUBLISH never says 0 */
#else
#define PATTERN false
#endif
#ifdef WILD             /* clients stall, requests and replies take longer than leases */
#define TIMELY false
#else
#define TIMELY true
#endif

/* What the rules of the first design are amended by (README.md, "Found"). Each can be taken back. */
#ifndef SPEC_SHIFT
#define AMEND_SHIFT
#endif
#ifndef SPEC_LEFT
#define AMEND_LEFT
#endif
#ifndef SPEC_R3
#define AMEND_R3
#endif
#ifndef SPEC_FG18
#define AMEND_FG18
#endif

#define OWNERS  (OURS + THEIRS)
#define CLIENTS (OURS - TWINS + 1)
#define THEIR(o)  ((o) > OURS)
#define CLIENT(o) (((o) <= TWINS) -> 0 : (o) - TWINS)
#define NO_CLIENT 255

/* ---- The server -------------------------------------------------------------------------------------------------- */

/* In the hash a pending owner is also in the queue. */
#include "line.pml"
#define LIFTED 3              /* BRIEF after Redisson's next shift: amendment SHIFT */
#ifdef EXPIRING
bit expiring;                 /* the queue's keys have a TTL of Redisson's */
#endif

bit listening[CLIENTS];       /* as PUBLISH counts it; may outlive a client for a while */

/* ---- On the way -------------------------------------------------------------------------------------------------- */

#define ENQUEUE 1
#define POLL    2
#define CONFIRM 3
#define CANCEL  4
#define RELEASE 5

#define ACQUIRED 1
#define QUEUED   2
#define ABSENT   3            /* not queued; nothing to cancel */
#define YES      4
#define LOST     5
#define OUTLIVED 6            /* said that it had the lock, but the lease has run out on the way */

#define ROOM 4
chan requests[OURS] = [ROOM] of { byte };         /* one connection, in order */
chan replies[OURS] = [ROOM] of { byte, byte };    /* to what, what */
byte late[OURS + 1];          /* a request of a cut connection that may still be executed */

byte fresh[OURS + 1];         /* grant messages on the way, within their short lease */
byte former[OURS + 1];        /* of before this round's enqueue */
byte old[OURS + 1];           /* their short lease is over */

/* ---- The waiters ------------------------------------------------------------------------------------------------- */

#define IDLE       0
#define ENQUEUING  1
#define WAITING    2          /* knows that it is queued */
#define CONFIRMING 3          /* has heard of a grant, and asks before it starts */
#define STARTED    4          /* works, on a message: not confirmed yet */
#define WORKING    5
#define RELEASING  6
#define CANCELLING 7
#define LINGERING  8          /* done, but a copy of its enqueue is still unanswered */
#define DONE       9
#define DEAD       10
#define HANDED     11         /* has or had the lock under another's name; its place goes with that one's hold */
byte phase[OWNERS + 1];
byte rounds[OWNERS + 1];
bit unanswered[OURS + 1];     /* an enqueue is on its way */
bit abandoned[OURS + 1];      /* an enqueue was on its way when the connection was cut */
bit forced[OWNERS + 1];       /* taken by force: may believe until its next renewal */

#ifdef HANDS
#define BEHIND 2
typedef Names { byte name[BEHIND] };
Names named[OURS + 1];        /* by its newest grant: who stands right behind it, of the same client */
bit leads[OURS + 1];          /* it started on that message */
byte under[OURS + 1];         /* under whose name this one had the lock */
#endif

/* Order: the number of the first enqueue, 0 when not waiting. Excused: somebody was let past while nobody listened. */
byte place[OWNERS + 1];
byte places;
bit excused[OURS + 1];

byte deaths = DEATHS, losses = LOSSES, doubles = DOUBLES, cuts = CUTS, drops = DROPS, aborts = ABORTS, forces = FORCES;
byte spare = SPARE, outstays = OUTSTAYS, windows = WINDOWS, expires = EXPIRES;

#define BELIEVES(o) ((THEIR(o) && phase[o] == WORKING) || phase[o] == STARTED || phase[o] == WORKING)
#define WAITS(o)    (phase[o] == ENQUEUING || phase[o] == WAITING || phase[o] == CONFIRMING)
/* Nothing more comes from it. */
#ifdef MUT_NOTAFTER_LONG
#define GONE(o) (phase[o] == DEAD || phase[o] == DONE || phase[o] == LINGERING)
#else
#define GONE(o) (phase[o] == DEAD || phase[o] == DONE)
#endif
#define HEARD(c) (listening[c] || PATTERN)
#define HEAD_STALE (length > 0 && deadline[queue[0]] == STALE)

/* Over all of our waiters. */
#if OURS == 1
#define SOME_OURS(is, a) (is(1, a))
#elif OURS == 2
#define SOME_OURS(is, a) (is(1, a) || is(2, a))
#elif OURS == 3
#define SOME_OURS(is, a) (is(1, a) || is(2, a) || is(3, a))
#else
#define SOME_OURS(is, a) (is(1, a) || is(2, a) || is(3, a) || is(4, a))
#endif
#define REMAINS(e, a) ((e) != NOBODY && !GONE(e))
#define OURS_REMAINS(e, a) ((e) != NOBODY && !THEIR(e) && !GONE(e))
#define AT_WORK(o, c) (CLIENT(o) == (c) && phase[o] != DEAD && phase[o] != DONE && phase[o] != IDLE)
#define KILLED(o, c) (CLIENT(o) == (c) && phase[o] == DEAD)

hidden byte each, twin, spot, turn, first, other, believers, uuid, unreachable, settled, what, answer, coin, queued_before;

/* For traces: one line for each step, what it was and what is true after it. Deadlines: 0 stale, 1 brief, 2 ample, 3 lifted. */
#define AT(spot) queue[spot], deadline[queue[spot]], fraction[queue[spot]]
inline tell_state() {
  printf("    lock %d  queue %d/%d.%d %d/%d.%d", lock, AT(0), AT(1));
#if OWNERS > 2
  printf(" %d/%d.%d", AT(2));
#endif
#if OWNERS > 3
  printf(" %d/%d.%d", AT(3));
#endif
  printf("\n")
}
#define tell(step, o) printf(step, o); tell_state()

/* ---- What must be true ------------------------------------------------------------------------------------------- */

/* Exclusion: at most one believes. */
inline check_exclusion() {
  believers = 0;
  for (other : 1 .. OWNERS) {
    if
    :: BELIEVES(other) && !forced[other] -> believers++
    :: else
    fi
  };
  assert(believers <= 1)
}

/* Order: whoever gets the lock passes nobody who waits longer. */
inline check_order(o) {
  if
  :: TIMELY ->
    for (other : 1 .. OWNERS) {
      if
      :: other != o && place[other] != 0 && place[other] < place[o] && WAITS(other) ->
        assert(!THEIR(other) && excused[other])
      :: else
      fi
    }
  :: else
  fi
}

/* A living waiter is not taken out by others. Only one that Redisson's large shifts made stale loses its place, and alone. */
inline check_eviction(o, head) {
  if
  :: !THEIR(o) && TIMELY ->
    assert(!(WAITS(o) || (phase[o] == STARTED && lock == o)) || (SHIFT == 3 && head && !fraction[o]))
  :: else
  fi
}

/* Nothing left over: nobody who has finished gets into the queue or gets the lock. */
inline check_unfinished(o) {
  assert(THEIR(o) || (phase[o] != DONE && phase[o] != IDLE))
}

/* ---- Hand to hand ------------------------------------------------------------------------------------------------ */

#ifdef HANDS
#define IS_TWIN(e, o) ((e) != NOBODY && !THEIR(e) && CLIENT(e) == CLIENT(o))

/* A grant to the head names them, up to the first of somebody else. */
inline name_behind(o) {
  named[o].name[0] = NOBODY;
  named[o].name[1] = NOBODY;
  other = 0;
  for (each : 1 .. OWNERS - 1) {
    if
    :: queue[0] == o && other < BEHIND && IS_TWIN(queue[each], o) -> named[o].name[other] = queue[each]; other++
#ifdef MUT_HAND_PAST
    :: else
#else
    :: else -> other = BEHIND
#endif
    fi
  }
}

#define SERVABLE(p) (phase[p] == WAITING || (phase[p] == CONFIRMING && !unanswered[p]))
#ifdef MUT_HAND_SKIPS
#define PASSED_BY(p) (!SERVABLE(p))
#else
#define PASSED_BY(p) (!WAITS(p))
#endif
/* The first of them who waits. Who does not know that it waits yet is not passed over; who has left is. */
#define HEIR(o) (SERVABLE(named[o].name[0]) -> named[o].name[0] : \
  (PASSED_BY(named[o].name[0]) && SERVABLE(named[o].name[1]) -> named[o].name[1] : NOBODY))

inline hand(o) {
  first = HEIR(o);
  check_order(first);
  place[first] = 0;
  phase[first] = HANDED;
  under[first] = o
}

/* Those who had it under this name leave the line, each by itself. */
inline leave_line(o) {
  leads[o] = 0;
  for (each : 1 .. OURS) {
    if
    :: under[each] == o ->
      under[each] = NOBODY;
      if
      :: phase[each] == HANDED -> give_up(each)
      :: else
      fi
    :: else
    fi
  }
}

/* Their places went with the hold. */
inline end_hands(o) {
  leads[o] = 0;
  for (each : 1 .. OURS) {
    if
    :: under[each] == o ->
      under[each] = NOBODY;
      if
      :: phase[each] == HANDED -> finish(each, YES)
      :: else
      fi
    :: else
    fi
  }
}

/* By the release of that hold. */
inline take_served(o) {
  for (each : 1 .. OURS) {
    if
    :: under[each] == o ->
      find(each);
      queued_before = queued_before || IS_QUEUED || lock == each;
      take_out(each);
      lock = (lock == each -> NOBODY : lock)
    :: else
    fi
  }
}

/* The line is not what it was. */
inline stop_hands(o) {
  for (each : 1 .. OURS) { leads[each] = (CLIENT(each) == CLIENT(o) -> 0 : leads[each]) }
}
#endif

/* ---- What scripts are made of ------------------------------------------------------------------------------------ */

inline append(o) {
  check_unfinished(o);
  find(o);
  assert(!IS_QUEUED);
  queue[length] = o;
  length++;
  deadline[o] = AMPLE;
  fraction[o] = 0;
  if
  :: place[o] == 0 && TIMELY -> places++; place[o] = places
  :: else
  fi
}

inline evict(o, head) {
  check_eviction(o, head);
  take_out(o);
  /* Queues again at the tail. */
  place[o] = 0
}

/* The caller's client is never purged: one that wakes late must not throw out its own waiters. */
#ifdef MUT_FG8
#define MAY_PURGE(caller) true
#else
#define MAY_PURGE(caller) (CLIENT(first) != caller)
#endif
#ifdef MUT_FG5
#define PROBATION true
#else
#define PROBATION fraction[first]
#endif

inline prune(caller) {
  do
  :: HEAD_STALE ->
    first = queue[0];
    if
    :: !THEIR(first) && PROBATION && MAY_PURGE(caller) ->
      uuid = CLIENT(first);
      if
      :: uuid == caller -> /* Only a mutation comes here. */
        for (twin : 1 .. OURS) { assert(!(CLIENT(twin) == caller && twin != first && WAITS(twin) && deadline[twin] != STALE)) }
      :: else
      fi;
      for (twin : 1 .. OURS) {
        if
        :: CLIENT(twin) == uuid -> find(twin);
          if
          :: IS_QUEUED -> evict(twin, twin == first)
          :: else
          fi
        :: else
        fi
      }
    :: else -> evict(first, true)
    fi
  :: else -> break
  od
}

/* Who believes in what was taken by force, or is yet to hear that it had it, is not told by getting it anew. */
inline forget_force(o) {
  forced[o] = (BELIEVES(o) || len(replies[o - 1]) > 0 -> forced[o] : 0)
}

/* The owner has the lock, confirmed. */
inline hold(o) {
  check_unfinished(o);
  check_order(o);
  lock = o;
  if
  :: !THEIR(o) -> forget_force(o)
  :: else
  fi
}

inline grant(o) {
  check_unfinished(o);
  check_order(o);
  lock = o;
  forget_force(o);
  deadline[o] = BRIEF;
  fraction[o] = 1;
  ADD(old[o], fresh[o]);
  fresh[o] = 0;
  if
  :: listening[CLIENT(o)] && phase[o] != DEAD -> fresh[o] = 1
  :: else
  fi;
  HAND_TO_HAND(name_behind(o))
}

/* Gives the free lock to whose turn it is. A caller that is reached takes it. */
inline pass(caller) {
  spot = 0;
  settled = (lock != NOBODY);
  unreachable = 0;
  do
  :: !settled && spot < length ->
    turn = queue[spot];
    if
    :: turn == caller ->
      take_out(turn);
      hold(turn);
      settled = 1
    :: turn != caller && THEIR(turn) ->
      /* Told as Redisson tells it; whom nobody reached stands behind it. */
      other = spot;
      do
      :: other > 0 ->
        queue[other] = queue[other - 1];
#ifdef AMEND_SHIFT
        if
        :: deadline[queue[other]] == BRIEF -> deadline[queue[other]] = LIFTED
        :: else
        fi;
#endif
        other--
      :: else -> break
      od;
      queue[0] = turn;
      settled = 1
    :: turn != caller && !THEIR(turn) && HEARD(CLIENT(turn)) && !(unreachable & (1 << CLIENT(turn))) ->
      grant(turn);
      settled = 1
    :: else ->
      unreachable = unreachable | (1 << CLIENT(turn));
      excused[turn] = 1;
#ifdef MUT_FG9
      evict(turn, true)
#else
      if
      :: deadline[turn] != STALE -> deadline[turn] = BRIEF
      :: else
      fi;
      fraction[turn] = 1;
      spot++
#endif
    fi
  :: else -> break
  od
}

/* The server has said that it does not have the lock: grants of before that count no more. */
inline outdate(o) {
#ifdef AMEND_R3
  ADD(former[o], fresh[o]);
  fresh[o] = 0
#else
  skip
#endif
}

/* ---- Our scripts ------------------------------------------------------------------------------------------------- */

inline refresh(o) {
  find(o);
  if
  :: IS_QUEUED -> deadline[o] = AMPLE; fraction[o] = 0
  :: else
  fi
}

#ifdef EXPIRING
#ifdef MUT_FG7
#define PERSIST
#else
#define PERSIST expiring = 0
#endif
#else
#define PERSIST
#endif

/* Enqueue and poll: `creates` tells them apart. */
inline acquire(o, creates) {
  if
  :: lock == o ->
    take_out(o);
      answer = ACQUIRED
  :: else ->
    find(o);
    if
    :: !creates && !IS_QUEUED -> answer = ABSENT; outdate(o)
    :: else ->
      PERSIST;
#ifdef MUT_FG8
      prune(CLIENT(o));
      refresh(o);
#else
      refresh(o);
      prune(CLIENT(o));
#endif
      if
      :: lock == NOBODY && length == 0 ->
        hold(o)
#ifdef MUT_BARGE
      :: lock == NOBODY && length > 0 ->
        if
        :: place[o] == 0 -> places++; place[o] = places
        :: else
        fi;
        take_out(o);
        hold(o)
#endif
      :: else ->
        find(o);
        if
        :: !IS_QUEUED ->
          append(o);
          ADD(former[o], fresh[o]);
          fresh[o] = 0;
          forget_force(o)
        :: else
        fi;
        pass(o)
      fi;
      answer = (lock == o -> ACQUIRED : QUEUED)
    fi
  fi
}

inline confirm(o) {
  if
#ifdef MUT_CONFIRM_CREATES
  :: lock == o || lock == NOBODY -> take_out(o); hold(o); answer = YES
#else
  :: lock == o -> take_out(o); answer = YES
#endif
  :: else -> answer = LOST; outdate(o)
  fi
}

inline cancel(o) {
  find(o);
  queued_before = IS_QUEUED;
  take_out(o);
  answer = (queued_before || lock == o -> YES : ABSENT);
  if
  :: lock == o -> lock = NOBODY; queued_before = 1
  :: else
  fi;
  if
  :: queued_before && lock == NOBODY -> prune(CLIENT(o)); pass(NOBODY)
  :: else
  fi
}

inline release(o) {
  answer = YES;
  take_out(o);
  if
#ifdef MUT_RELEASE_ANY
  :: lock != NOBODY -> take_out(lock); lock = NOBODY; prune(CLIENT(o)); pass(NOBODY)
#else
  :: lock == o -> lock = NOBODY; prune(CLIENT(o)); pass(NOBODY)
#endif
  :: else
  fi
}

#ifdef HANDS
inline release_all(o) {
  answer = YES;
  queued_before = (lock == o);
  lock = (lock == o -> NOBODY : lock);
  take_out(o);
#ifndef MUT_HAND_STAYS
  take_served(o);
#endif
  if
  :: queued_before && lock == NOBODY -> prune(CLIENT(o)); pass(NOBODY)
  :: else
  fi;
  assert(THEIR(lock) || under[lock] != o)
}
#define RELEASE_BY(o) release_all(o)
#else
#define RELEASE_BY(o) release(o)
#endif

inline execute(o) {
  if
  :: what == ENQUEUE -> acquire(o, true)
#ifdef MUT_FG6
  :: what == POLL -> acquire(o, true)
#else
  :: what == POLL -> acquire(o, false)
#endif
  :: what == CONFIRM -> confirm(o)
  :: what == CANCEL -> cancel(o)
  :: what == RELEASE -> RELEASE_BY(o)
  fi
}

/* ---- Our clients ------------------------------------------------------------------------------------------------- */

inline send(o, kind) {
  assert(len(requests[o - 1]) < ROOM);
  requests[o - 1]!kind;
  if
  :: kind == ENQUEUE -> unanswered[o] = 1
  :: else
  fi
}

inline begin_work(o, how) {
  phase[o] = how;
  place[o] = 0;
  check_exclusion()
}

/* It is over for this owner, and the server has said so. */
inline finish(o, reply) {
  place[o] = 0;
  excused[o] = 0;
  forced[o] = 0;
  if
#ifdef AMEND_FG18
  :: abandoned[o] || unanswered[o] -> phase[o] = LINGERING; unanswered[o] = 0; abandoned[o] = 1
#else
  :: (abandoned[o] || unanswered[o]) && reply == ABSENT -> phase[o] = LINGERING; unanswered[o] = 0; abandoned[o] = 1
#endif
  :: else ->
    unanswered[o] = 0;
    abandoned[o] = 0;
#if ROUNDS > 1
    rounds[o] = (rounds[o] > 0 -> rounds[o] - 1 : 0);
#ifndef MUT_FG16
    /* The latch: a late copy of what was answered does nothing. */
    if
    :: late[o] == RELEASE || late[o] == CANCEL -> late[o] = 0
    :: else
    fi;
#endif
    phase[o] = (rounds[o] > 0 -> IDLE : DONE)
#else
    phase[o] = DONE
#endif
  fi
}

inline give_up(o) {
  send(o, CANCEL);
  phase[o] = CANCELLING
}

inline lost_while_working(o) {
  assert(!TIMELY || forced[o]);
  give_up(o);
  HAND_TO_HAND(leave_line(o))
}

inline hear_reply(o) {
  if
  :: what == ENQUEUE -> unanswered[o] = 0
  :: else
  fi;
  if
  :: (what == ENQUEUE || what == POLL) && answer == ACQUIRED && (WAITS(o) || phase[o] == STARTED) -> begin_work(o, WORKING)
  :: what == ENQUEUE && answer == QUEUED && phase[o] == ENQUEUING -> phase[o] = WAITING
  :: what == POLL && answer == ABSENT && phase[o] == WAITING ->
    send(o, ENQUEUE);
    phase[o] = ENQUEUING;
    forced[o] = 0;
    HAND_TO_HAND(stop_hands(o))
  :: what == CONFIRM && answer == YES && (phase[o] == CONFIRMING || phase[o] == STARTED) -> begin_work(o, WORKING)
  :: answer == OUTLIVED && (WAITS(o) || phase[o] == STARTED) -> give_up(o)
  :: what == CONFIRM && answer == LOST && phase[o] == CONFIRMING ->
    phase[o] = (unanswered[o] -> ENQUEUING : WAITING);
    forced[o] = 0
  :: what == CONFIRM && answer == LOST && (phase[o] == STARTED || phase[o] == WORKING) -> lost_while_working(o)
  :: what == RELEASE && phase[o] == RELEASING -> finish(o, YES); HAND_TO_HAND(end_hands(o))
#ifdef HANDS
  /* By force it was granted to who had had it already. */
  :: (answer == ACQUIRED || answer == YES) && phase[o] == HANDED -> give_up(o)
#endif
  :: what == CANCEL && phase[o] == CANCELLING -> finish(o, answer)
  :: else
  fi
}

/* Nothing is known of a request without a reply: the same again, on a new connection. */
inline repeat_unanswered(o) {
  if
  :: phase[o] == ENQUEUING -> send(o, ENQUEUE)
  :: phase[o] == CONFIRMING || phase[o] == STARTED -> send(o, CONFIRM)
  :: phase[o] == RELEASING -> send(o, RELEASE)
#ifdef MUT_FG11
  :: phase[o] == CANCELLING -> phase[o] = DONE; place[o] = 0
#else
  :: phase[o] == CANCELLING -> send(o, CANCEL)
#endif
  :: else
  fi
}

inline drain(o) {
  do
  :: len(requests[o - 1]) > 0 -> requests[o - 1]?what
  :: len(requests[o - 1]) == 0 && len(replies[o - 1]) > 0 -> replies[o - 1]?what, answer
  :: len(requests[o - 1]) == 0 && len(replies[o - 1]) == 0 -> break
  od
}

/* Whether a poll of this waiter would change anything, or tell it anything. */
#define NEEDS_POLL(o) (lock == o || !QUEUED_NOW(o) || deadline[o] != AMPLE || fraction[o] || HEAD_STALE \
  || (lock == NOBODY && !THEIR(queue[0])))

#define SILENT(o) (len(requests[o - 1]) == 0 && len(replies[o - 1]) == 0)

/* Once sent, whether it may come to nothing. */
#ifdef MUT_FG6_NOTAFTER
#define MAY_VANISH(kind) ((kind) != ENQUEUE)
#else
#define MAY_VANISH(kind) true
#endif

inline tell_kind() {
  if
  :: what == ENQUEUE -> printf("enqueue ")
  :: what == POLL -> printf("poll ")
  :: what == CONFIRM -> printf("confirm ")
  :: what == CANCEL -> printf("cancel ")
  :: what == RELEASE -> printf("release ")
  fi
}

inline cut(o) {
  cuts--;
  if
  :: unanswered[o] -> unanswered[o] = 0; abandoned[o] = 1
  :: else
  fi
}

inline start_at_once(o) {
  HAND_TO_HAND(leads[o] = 1);
  send(o, CONFIRM);
  begin_work(o, STARTED)
}

inline ask_first(o) {
  if
  :: phase[o] == WAITING || phase[o] == ENQUEUING -> send(o, CONFIRM); phase[o] = CONFIRMING
#ifndef MUT_FG11
  /* A grant that nobody waits for is given back. */
  :: phase[o] == DONE || phase[o] == LINGERING || phase[o] == HANDED -> give_up(o)
#endif
  :: else
  fi
}

proctype Our(byte o) {
end:
  do
  :: d_step { phase[o] == IDLE ->
       ADD(former[o], fresh[o]);
       fresh[o] = 0;
       send(o, ENQUEUE);
       phase[o] = ENQUEUING;
       tell("%d sends its enqueue\n", o) }

  /* The server executes what came, also for the dead, unless their connection is reset. */
  :: d_step { len(requests[o - 1]) > 0 ->
       requests[o - 1]?what;
       execute(o);
       tell_kind();
       if
       :: phase[o] != DEAD -> replies[o - 1]!what, answer
       :: else
       fi;
       tell("runs, of %d\n", o) }
  :: d_step { len(requests[o - 1]) > 0 && phase[o] == DEAD ->
       drain(o);
       tell("the requests of %d never run\n", o) }
  :: d_step { late[o] != 0 ->
       what = late[o];
       late[o] = 0;
       execute(o);
       tell_kind();
       tell("runs late, of %d\n", o) }
  /* Never executed, or an enqueue's "not after" has passed. */
  :: d_step { late[o] != 0 && MAY_VANISH(late[o]) ->
       late[o] = 0;
       tell("a late request of %d never runs\n", o) }

  :: d_step { len(replies[o - 1]) > 0 && phase[o] != DEAD ->
       replies[o - 1]?what, answer;
       hear_reply(o);
       tell("%d hears a reply\n", o) }

#ifndef MUT_NO_POLL
  :: d_step { phase[o] == WAITING && SILENT(o) && (NEEDS_POLL(o) || spare > 0) ->
       if
       :: !NEEDS_POLL(o) -> spare--
       :: else
       fi;
       send(o, POLL);
       tell("%d sends a poll\n", o) }
#endif

#if ABORTS > 0
  :: d_step { aborts > 0 && WAITS(o) ->
       aborts--;
       give_up(o);
       tell("%d gives up\n", o) }
#endif
  :: d_step { phase[o] == STARTED || phase[o] == WORKING ->
       send(o, RELEASE);
       phase[o] = RELEASING;
       tell("%d sends its release\n", o) }
#ifdef HANDS
  :: d_step { (phase[o] == STARTED || phase[o] == WORKING) && leads[o] && HEIR(o) != NOBODY ->
       hand(o);
       tell("%d has it from hand to hand\n", first) }
  /* A second later. */
  :: d_step { phase[o] == HANDED && (phase[under[o]] == STARTED || phase[under[o]] == WORKING) ->
       under[o] = NOBODY;
       give_up(o);
       tell("%d, who had it from hand to hand, leaves the line\n", o) }
#endif
#ifdef WILD
  /* No renewal or confirm came through in time: trust ends, work stops. */
  :: d_step { phase[o] == STARTED || phase[o] == WORKING ->
       give_up(o);
       HAND_TO_HAND(leave_line(o));
       tell("%d trusts no more\n", o) }
#endif
#if CUTS > 0
  /* The "not after" of what was abandoned has passed. */
  :: d_step { phase[o] == LINGERING && (late[o] != ENQUEUE || !MAY_VANISH(ENQUEUE)) ->
       abandoned[o] = 0;
       give_up(o);
       tell("%d cancels once more\n", o) }

  /* The first unanswered request may still be executed late; the others are not. */
  :: d_step { cuts > 0 && phase[o] != DEAD && !SILENT(o) ->
       cut(o);
       drain(o);
       repeat_unanswered(o);
       tell("the connection of %d is cut\n", o) }
  :: d_step { cuts > 0 && phase[o] != DEAD && len(requests[o - 1]) > 0 && late[o] == 0 ->
       cut(o);
       requests[o - 1]?what;
       late[o] = what;
       drain(o);
       repeat_unanswered(o);
       tell("the connection of %d is cut, its request goes on\n", o) }
#endif

  /* Messages: doubled, lost, in time, late. */
#if DOUBLES > 0
  :: d_step { doubles > 0 && fresh[o] > 0 ->
       doubles--;
       fresh[o] = fresh[o] + 1;
       tell("a message to %d is doubled\n", o) }
#endif
#if LOSSES > 0
  :: d_step { losses > 0 && fresh[o] > 0 ->
       losses--;
       fresh[o] = fresh[o] - 1;
       tell("a message to %d is lost\n", o) }
#endif
  :: d_step { fresh[o] > 0 && phase[o] == WAITING ->
       fresh[o] = fresh[o] - 1;
       start_at_once(o);
       tell("%d hears of a grant and starts\n", o) }
  /* Not provably fresh. */
  :: d_step { fresh[o] > 0 ->
       fresh[o] = fresh[o] - 1;
       ask_first(o);
       tell("%d hears of a grant\n", o) }
  :: d_step { old[o] > 0 ->
       old[o] = old[o] - 1;
#ifdef MUT_FG2
       if
       :: phase[o] == WAITING -> start_at_once(o)
       :: else -> ask_first(o)
       fi;
#else
       ask_first(o);
#endif
       tell("%d hears late of a grant\n", o) }
  :: d_step { former[o] > 0 ->
       former[o] = former[o] - 1;
#ifdef MUT_FG1
       if
       :: phase[o] == WAITING -> start_at_once(o)
       :: else -> ask_first(o)
       fi;
#else
       ask_first(o);
#endif
       tell("%d hears of a grant of before its enqueue\n", o) }
  od
}

/* ---- A Redisson client, from the facts sheet --------------------------------------------------------------------- */

/* Its wait is subtracted from a deadline. Ample ones stay ample unless its wait is longer than ours. */
inline shift(o) {
  if
  :: SHIFT >= 2 && deadline[o] == BRIEF -> deadline[o] = STALE
  :: SHIFT >= 2 && deadline[o] == LIFTED -> deadline[o] = BRIEF
  :: SHIFT == 3 && coin && deadline[o] == AMPLE -> deadline[o] = STALE
  :: else
  fi
}

inline prune_as_theirs() {
  do
  :: HEAD_STALE -> first = queue[0]; evict(first, true)
  :: else -> break
  od
}

inline toss() {
  coin = 0;
  if
  :: SHIFT == 3 -> coin = 1
  :: true
  fi
}

proctype Their(byte o) {
end:
  do
  :: atomic { phase[o] == IDLE || (phase[o] == WAITING
         && (HEAD_STALE || !QUEUED_NOW(o) || (lock == NOBODY && (length == 0 || queue[0] == o)))) ->
       toss();
       d_step {
         prune_as_theirs();
         if
         :: lock == NOBODY && (length == 0 || queue[0] == o) ->
           take_out(o);
           for (each : 0 .. OWNERS - 1) {
             if
             :: each < length -> shift(queue[each])
             :: else
             fi
           };
           hold(o);
           begin_work(o, WORKING)
         :: else ->
           find(o);
           if
           :: !IS_QUEUED -> append(o)
           :: else
           fi;
           phase[o] = WAITING
         fi;
         tell("%d of Redisson asks\n", o) } }
  :: d_step { phase[o] == WORKING ->
       prune_as_theirs();
       if
       :: lock == o -> lock = NOBODY
       :: else
       fi;
       forced[o] = 0;
       phase[o] = DONE;
       tell("%d of Redisson releases\n", o) }
  :: atomic { phase[o] == WAITING && aborts > 0 ->
       aborts--;
       toss();
       d_step {
         find(o);
         if
         :: IS_QUEUED ->
           for (each : 0 .. OWNERS - 1) {
             if
             :: each > spot_of && each < length -> shift(queue[each])
             :: else
             fi
           };
           take_out(o)
         :: else
         fi;
         place[o] = 0;
         phase[o] = DONE;
         tell("%d of Redisson gives up\n", o) } }
  od
}

/* ---- Time, death, the network, an operator ----------------------------------------------------------------------- */

/* Whether the lock's lease may run out now. Nobody's does who believes. */
#ifdef WILD
#define MAY_LAPSE(o) ((o) != NOBODY && (THEIR(o) -> phase[o] == DEAD : !BELIEVES(o)))
#elif defined(MUT_FG3)
#define MAY_LAPSE(o) ((o) != NOBODY && (GONE(o) || (!THEIR(o) && QUEUED_NOW(o) && WAITS(o))))
#else
#define MAY_LAPSE(o) ((o) != NOBODY && (THEIR(o) -> phase[o] == DEAD : GONE(o)))
#endif

inline lapse() {
  first = lock;
  lock = NOBODY;
  if
  :: !THEIR(first) ->
    ADD(old[first], fresh[first] + former[first]);
    fresh[first] = 0;
    former[first] = 0;
    find(first);
    if
#ifdef SPEC_WINDOW
    :: IS_QUEUED
#else
    :: IS_QUEUED && windows > 0 -> windows--
#endif
#ifndef SPEC_WINDOW
    :: IS_QUEUED && windows == 0 -> deadline[first] = STALE
#endif
    :: !IS_QUEUED ->
      /* Replies that tell of this lease come too late. */
      for (each : 1 .. ROOM) {
        if
        :: each <= len(replies[first - 1]) ->
          replies[first - 1]?what, answer;
          answer = (what <= CONFIRM && (answer == ACQUIRED || answer == YES) -> OUTLIVED : answer);
          replies[first - 1]!what, answer
        :: else
        fi
      }
    fi
  :: else
  fi
}

/* Whether the head's deadline may come now. A living waiter of ours polls in time; a pending one's comes after its lease. */
#ifdef WILD
#define OURS_MAY_STALE(o) true
#elif defined(MUT_FG3)
#define OURS_MAY_STALE(o) (GONE(o) || (deadline[o] == BRIEF && WAITS(o)))
#else
#define OURS_MAY_STALE(o) GONE(o)
#endif
#define MAY_STALE(o) ((o) != NOBODY && deadline[o] != STALE && lock != (o) \
  && (THEIR(o) -> (phase[o] == DEAD || outstays > 0) : OURS_MAY_STALE(o)))

inline kill(c) {
  for (each : 1 .. OURS) {
    if
    :: CLIENT(each) == c ->
      phase[each] = DEAD;
      fresh[each] = 0;
      former[each] = 0;
      old[each] = 0;
      place[each] = 0;
      unanswered[each] = 0;
      abandoned[each] = 0;
      forced[each] = 0;
      excused[each] = 0;
#ifdef HANDS
      leads[each] = 0;
      under[each] = NOBODY;
#endif
      do
      :: len(replies[each - 1]) > 0 -> replies[each - 1]?what, answer
      :: len(replies[each - 1]) == 0 -> break
      od
    :: else
    fi
  }
}

inline empty_queue() {
  do
  :: length > 0 ->
    first = queue[0];
    evict(first, true)
  :: else -> break
  od
}

proctype Server() {
end:
  do
  :: d_step { MAY_LAPSE(lock) ->
       lapse();
       tell("the lease of %d runs out\n", first) }
  :: d_step { MAY_STALE(queue[0]) ->
       first = queue[0];
       if
       :: THEIR(first) && phase[first] != DEAD -> outstays--
       :: else
       fi;
       deadline[first] = STALE;
       tell("the deadline of %d comes\n", first) }
#ifdef AMEND_LEFT
  /* The queue's keys live as long as their last deadline and a while. */
  :: d_step { length > 0 && !SOME_PLACE(REMAINS, 0) ->
       empty_queue();
       tell("the queue's keys expire\n", 0) }
#endif
#ifdef EXPIRING
  :: d_step { expires > 0 && THEIR(lock) && length > 0 ->
       expires--;
       expiring = 1;
       tell("%d of Redisson expires lock and queue\n", lock) }
#ifdef MUT_FG7
  :: d_step { expiring ->
       expiring = 0;
       empty_queue();
       tell("the queue's keys expire\n", 0) }
#else
  /* Our polls come before the TTL ends, unless none of ours waits. */
  :: d_step { expiring && !SOME_PLACE(OURS_REMAINS, 0) ->
       expiring = 0;
       empty_queue();
       tell("the queue's keys expire\n", 0) }
#endif
#endif
#if FORCES > 0
  :: d_step { forces > 0 && lock != NOBODY ->
       forces--;
       prune(NO_CLIENT);
       first = lock;
       forced[first] = 1;
       place[first] = 0;
       lock = NOBODY;
       take_out(first);
       pass(NOBODY);
       tell("%d is released by force\n", first) }
#endif
#if THEIRS > 0 && DEATHS > 0
  :: d_step { deaths > 0 && (phase[OURS + 1] == WAITING || phase[OURS + 1] == WORKING) ->
       deaths--;
       phase[OURS + 1] = DEAD;
       place[OURS + 1] = 0;
       forced[OURS + 1] = 0;
       tell("%d of Redisson dies\n", OURS + 1) }
#endif
  od
}

/* What befalls a client of ours. */
proctype Fate(byte c) {
end:
  do
#if DEATHS > 0
  :: d_step { deaths > 0 && SOME_OURS(AT_WORK, c) ->
       deaths--;
       kill(c);
       tell("client %d dies\n", c) }
  /* The server sees that a connection is gone. */
  :: d_step { listening[c] && SOME_OURS(KILLED, c) ->
       listening[c] = 0;
       tell("client %d listens no more, as the server sees\n", c) }
#endif
#if DROPS > 0
  :: d_step { drops > 0 && listening[c] && SOME_OURS(AT_WORK, c) ->
       drops--;
       listening[c] = 0;
       for (each : 1 .. OURS) {
         if
         :: CLIENT(each) == c -> fresh[each] = 0; former[each] = 0; old[each] = 0
         :: else
         fi
       };
       tell("client %d listens no more\n", c) }
  :: d_step { !listening[c] && !SOME_OURS(KILLED, c) ->
       listening[c] = 1;
       tell("client %d listens again\n", c) }
#endif
#if DEATHS == 0 && DROPS == 0
  :: false
#endif
  od
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

/* Nothing more can happen: nobody waits, and nothing is left. */
proctype End() {
  timeout ->
  d_step {
    for (each : 1 .. OWNERS) { assert(phase[each] == DONE || phase[each] == DEAD) };
    assert(lock == NOBODY);
    assert(length == 0);
    for (each : 1 .. OWNERS) { assert(deadline[each] == STALE && !fraction[each]) }
  }
}

init {
  atomic {
    for (each : 0 .. CLIENTS - 1) { listening[each] = 1 };
    for (each : 1 .. OURS) { rounds[each] = ROUNDS };
    for (each : 1 .. OURS) { run Our(each) };
#if THEIRS > 0
    for (each : OURS + 1 .. OWNERS) { run Their(each) };
#endif
    run Server();
    for (each : 0 .. CLIENTS - 1) { run Fate(each) };
    run End()
  }
}

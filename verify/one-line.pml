/*
 * The plain lock's line: processes as places, direct grant, confirm, hand to hand, and strangers (Redisson's clients) who race.
 * Each script is one atomic step. README.md says what stands for what, how time is abstracted, and what is left out.
 */

/* ---- One configuration: small numbers, all from the command line ------------------------------------------------ */

#ifndef OURS
#define OURS 2          /* processes of ours, 1..OURS; each has one place in the line */
#endif
#ifndef CALLERS
#define CALLERS 1       /* so many callers come in each process, one after another or together */
#endif
#ifdef UNEVEN           /* only in the first one */
#define COME(p) ((p) == 1 -> CALLERS : 1)
#define IN_TURN(p) true
#else
#define COME(p) CALLERS
/* Who is alike comes in its order. */
#define IN_TURN(p) ((p) == 1 || last[p - 1] > 0 || phase[p - 1] == DEAD)
#endif
#ifndef THEIRS
#define THEIRS 0        /* strangers */
#endif
#ifndef VISITS
#define VISITS 1        /* how often each of them wants the lock */
#endif
#ifndef DEATHS
#define DEATHS 0
#endif
#ifndef LOSSES
#define LOSSES 0        /* messages lost */
#endif
#ifndef DOUBLES
#define DOUBLES 0       /* grants told twice */
#endif
#ifndef FORGED
#define FORGED 0        /* what anybody may publish on a client's channel, or on Redisson's */
#endif
#ifndef DROPS
#define DROPS 0         /* subscriptions gone for a while */
#endif
#ifndef ABORTS
#define ABORTS 0        /* callers that give up */
#endif
#ifndef FORCES
#define FORCES 0        /* releases by force with our script */
#endif
#ifndef DELETES
#define DELETES 0       /* and with Redisson's, which deletes the lock and knows of no line */
#endif
#ifndef STALLS
#define STALLS 0        /* processes that stand still for longer than a trial, or whose requests do */
#endif
#ifndef SPARE
#define SPARE 0         /* questions that were not needed when they were sent, ours and theirs */
#endif
#ifdef MIXED            /* callers with a lease of their own in turn with those whose lease is renewed */
#define LEASE_OF(caller) (((caller) & 1) -> LONG : SHORT)
#else
#define LEASE_OF(caller) LONG
#endif
/* Ours have so many grants in 58 ms at most, and so many in the second in which strangers that did not come are not asked again. */
#ifndef TURN
#define TURN 1
#endif
#ifndef PAUSE
#define PAUSE 1
#endif

#define NAMES (2 * OURS)
#define OWNERS NAMES
#define CROWD (OURS + THEIRS)
#include "line.pml"

/* A process has two names, which take turns: a name is used again when nothing of it is on the way. Strangers come behind. */
#define NAME(p) (2 * (p) - 1 + half[p])
#define TWIN(n) (((n) & 1) -> (n) + 1 : (n) - 1)
#define PROCESS(n) (((n) + 1) / 2)
#define STRANGER(n) ((n) > NAMES)
#define NOT_ONE 0

/* ---- The server -------------------------------------------------------------------------------------------------- */

/* The lock's lease, and what a client believes in. */
#define TRIAL 1
#define SHORT 2
#define LONG  3
byte lease;

/* The hash of the turns. */
#define OPEN  1               /* it is left to others: `till` is yet to come */
#define ENDED 2               /* it has passed, and is still there */
byte till;
bit recent;                   /* `since` is less than 58 ms ago */
bit came;                     /* less than 3 s ago one of them was seen with the lock */
bit pause;                    /* `after` is yet to come */
bit turn_key;

bit listening[OURS + 1];      /* on its client's channel, as PUBLISH counts it; may outlive it for a while */
bit attends[OURS + 1];        /* on Redisson's channel */

/* ---- On the way -------------------------------------------------------------------------------------------------- */

#define ACQUIRE   1
#define JOIN      2           /* ask.lua with joins */
#define POLL      3           /* ask.lua without */
#define POLL_NEWS 4           /* of those to whom it was left nobody is heard any more, or they have had their share */
#define CONFIRM   5
#define RELEASE   6
#define PASS      7
#define CHECK     8           /* renew.lua, inspect.lua */

#define HELD     1
#define REFUSED  2
#define OTHERS   3            /* first in the line, behind one that cannot grant */
#define OPENED   4            /* the same, and it is left to others */
#define BEHIND   5
#define GONE     6
#define LOST     7
#define OUTLIVED 8            /* it had the lock, but the lease has run out on the way */

#define ROOM 5
chan requests[OURS] = [ROOM] of { byte, byte, byte };        /* what, by which name, for which lease */
chan replies[OURS] = [ROOM] of { byte, byte, byte, byte };   /* to that, what */
byte pending[NAMES + 1];

byte fresh[OURS + 1];         /* copies of a grant to its place on the way, within the trial */
byte former[OURS + 1];        /* of before the server last said how it stands */
byte old[OURS + 1];           /* the trial is over */
bit called[OURS + 1];         /* anything else on its client's channel, or a reason to ask that it has already */
bit stirred[OURS + 1];        /* a message on Redisson's channel, for who listens there */

/* ---- Our processes ----------------------------------------------------------------------------------------------- */

#define IDLE     0
#define ASKING   1            /* acquire.lua is on its way, for the first who came */
#define JOINING  2
#define WAITING  3            /* knows that it stands in the line */
#define STARTED  4            /* somebody here works, on a message; the confirmation is not even sent */
#define TRIED    5            /* and now it is */
#define WORKING  6
#define PASSING  7            /* pass.lua is on its way */
#define DEAD     8
byte phase[OURS + 1];
byte first[OURS + 1], last[OURS + 1];   /* callers first..last - 1 wait here */
bit half[OURS + 1];            /* which of its names it has */
bit confirming[OURS + 1];     /* has heard of a grant, and asks before it starts */
bit mixed[OURS + 1];          /* some question was for another lease than that of whom the place is for */
bit had[OURS + 1];            /* it has the lock, for a lease that may not be that one's */
bit wary[OURS + 1];           /* confirms whatever it hears of a grant */
bit heard[OURS + 1];          /* the newest grant: what is repeated is no other */
byte trust[OURS + 1];
byte terms[OURS + 1];         /* the lease of who works here */
bit forced[CROWD + 1];        /* taken by force: may believe until it hears of it */
bit stalled[OURS + 1];
bit skipped[OURS + 1];        /* somebody was let past while nobody listened */

#define PATIENT 1             /* knows that it is left to others, and listens */
#define NEWS    2             /* they are through */
byte knows[OURS + 1];

/* ---- Strangers: owners NAMES + 1.., here OURS + 1.. ----------------------------------------------------------------- */

#define THEM(p) (NAMES + (p) - OURS)
#define WHO(n)  ((n) - NAMES + OURS)
byte role[THEIRS + 1];        /* IDLE, WAITING, WORKING, DEAD */
byte visits[THEIRS + 1];      /* still to come */
bit told[THEIRS + 1];
bit counted[THEIRS + 1];      /* subscribed, as NUMSUB counts it */
#define S(p) ((p) - OURS - 1)

/* ---- For the properties ------------------------------------------------------------------------------------------ */

byte row;                     /* grants of ours in a row while a stranger waited */
byte turned = 2;              /* since others had a turn, ours have had none, a part of one, all of one */
bit due;                      /* an open turn that a waiting stranger has not used yet */
#ifdef STRICT
bit took;                     /* and that one has used */
#endif
byte unasked;                 /* takings of strangers since the head last asked */
byte asks;                    /* questions that a message led to since the lock last changed hands */

byte deaths = DEATHS, losses = LOSSES, doubles = DOUBLES, forged = FORGED, drops = DROPS, aborts = ABORTS, forces = FORCES;
byte deletes = DELETES, stalls = STALLS, spare = SPARE;

hidden byte each, spot, at, turn, believers, other, what, name, want, answer, dead, deaf, taken, stranger, unheld, waits, freed, lined;
hidden byte waited, opens, who, crowd, was;

#define FAULTS (DEATHS + DROPS + FORCES + DELETES + STALLS + ABORTS)
#define BELIEVES(p) (phase[p] == STARTED || phase[p] == TRIED || phase[p] == WORKING)
#define STANDS(p) (phase[p] == JOINING || phase[p] == WAITING)
#define LEASE(p) LEASE_OF(first[p])
#define WANTED(p) (first[p] < last[p])
#define SILENT(p) (len(requests[p - 1]) == 0 && len(replies[p - 1]) == 0)

#if OURS == 1
#define SOME_OURS(is) (is(1))
#elif OURS == 2
#define SOME_OURS(is) (is(1) || is(2))
#else
#define SOME_OURS(is) (is(1) || is(2) || is(3))
#endif
#if THEIRS == 0
#define SOME_THEIRS(is) false
#elif THEIRS == 1
#define SOME_THEIRS(is) (is(0))
#else
#define SOME_THEIRS(is) (is(0) || is(1))
#endif
#define IS_WAITING(s) (role[s] == WAITING)
#define IS_ROUSED(s) (role[s] == WAITING && told[s])
#define IS_COUNTED(s) counted[s]
#define IS_ATTENDING(p) attends[p]

/* For traces: one line for each step, what it was and what is true after it. Deadlines: 0 stale, 1 brief, 2 ample. */
#define AT(spot) queue[spot], deadline[queue[spot]], fraction[queue[spot]]
inline tell_state() {
  printf("    lock %d lease %d  queue %d/%d.%d %d/%d.%d", lock, lease, AT(0), AT(1));
#if OURS > 1
  printf(" %d/%d.%d", AT(2));
#endif
  printf("  till %d\n", till)
}
#define tell(step, o) printf(step, o); tell_state()

/* ---- What must be true ------------------------------------------------------------------------------------------- */

/* Exclusion: at most one believes. */
inline check_exclusion() {
  believers = 0;
  for (other : 1 .. OURS) {
    if
    :: BELIEVES(other) && !forced[other] -> believers++
    :: else
    fi
  };
#if THEIRS > 0
  for (other : OURS + 1 .. CROWD) {
    if
    :: role[S(other)] == WORKING && !forced[other] -> believers++
    :: else
    fi
  };
#endif
  assert(believers <= 1)
}

/* Order: who gets the lock passes no place of a process that lives and can be reached. */
inline check_order(n) {
  for (at : 0 .. OWNERS - 1) {
    if
    :: at < length && queue[at] != n ->
      other = PROCESS(queue[at]);
      assert(!STANDS(other) || NAME(other) != queue[at] || skipped[other] || stalled[other])
    :: else -> break
    fi
  }
}

/* A place of a living process is not taken out by others. */
inline evict(n) {
  other = PROCESS(n);
  assert(NAME(other) != n || stalled[other] || forced[other] || !(STANDS(other) || phase[other] == STARTED || phase[other] == TRIED));
  take_out(n)
}

/* Turns: ours do not go on for ever while a stranger waits, and what was left to them was not taken back before they could come. */
inline count_ours() {
  if
  :: SOME_THEIRS(IS_WAITING) -> row++
  :: else -> row = 0; due = 0
  fi;
  assert(row <= (TURN > PAUSE -> TURN : PAUSE) + 1 + FAULTS);
#ifdef PACED
  assert(due == 0);
#endif
  due = 0;
  turned = (turned == 0 -> 1 : turned);
  unasked = 0;
  asks = 0
}

inline count_theirs() {
#ifdef STRICT
  took = (till == OPEN -> 1 : took);
#endif
  row = 0;
  due = 0;
  asks = 0;
#ifdef PACED
  if
  :: till != OPEN && length > 0 ->
    if
    :: phase[PROCESS(queue[0])] == WAITING && attends[PROCESS(queue[0])] && knows[PROCESS(queue[0])] != PATIENT -> unasked++
    :: else
    fi
  :: else
  fi;
  assert(unasked <= 2)
#endif
}

/* ---- What scripts are made of ------------------------------------------------------------------------------------ */

/* Who believes in what was taken by force, or is yet to hear that it had it, is not told by getting it anew. */
inline forget_force(n) {
  other = PROCESS(n);
  forced[other] = (BELIEVES(other) || pending[n] > 0 -> forced[other] : 0)
}

/* The owner has the lock, not on trial. */
inline hold(n, long) {
  check_order(n);
  lock = n;
  lease = long;
  forget_force(n);
  skipped[PROCESS(n)] = 0;
  count_ours()
}

inline grant(n) {
  check_order(n);
  lock = n;
  lease = TRIAL;
  forget_force(n);
  deadline[n] = BRIEF;
  fraction[n] = 1;
  who = PROCESS(n);
  if
  :: phase[who] == DEAD
  :: phase[who] != DEAD && STANDS(who) && NAME(who) == n ->
    ADD(former[who], fresh[who]);
    fresh[who] = 1;
    heard[who] = 0
  :: else -> called[who] = 1
  fi;
  count_ours()
}

inline call(n) {
  if
  :: listening[PROCESS(n)] && phase[PROCESS(n)] != DEAD -> called[PROCESS(n)] = 1
  :: else
  fi
}

/* `0` on Redisson's channel. */
inline publish() {
  for (each : 1 .. OURS) { stirred[each] = (attends[each] && phase[each] != DEAD -> 1 : stirred[each]) };
#if THEIRS > 0
  for (each : 0 .. THEIRS - 1) { told[each] = (role[each] == WAITING -> 1 : told[each]) };
#endif
#ifdef MUT_HERD
  for (each : 1 .. OURS) { called[each] = (phase[each] == WAITING -> 1 : called[each]) }
#endif
}

/* The walk. `caller`: whose client asks, 0: nobody's; `mine`: by which name it may have it, for so long. */
inline serve_line(caller, mine, long) {
  taken = (lock != NOBODY);
  dead = 0;
  deaf = 0;
  spot = 0;
  do
  :: spot < length ->
    turn = queue[spot];
    if
    :: (dead & (1 << PROCESS(turn))) || (deadline[turn] == STALE && fraction[turn] && PROCESS(turn) != caller) ->
      dead = dead | (1 << PROCESS(turn));
      spot++
    :: else ->
      if
      :: deadline[turn] == STALE -> evict(turn)
      :: deadline[turn] != STALE && taken && lock == turn -> spot++
      :: deadline[turn] != STALE && taken && lock != turn -> break
      :: deadline[turn] != STALE && !taken ->
        if
        :: turn == mine -> hold(turn, long); take_out(turn); taken = 1
        :: turn != mine && listening[PROCESS(turn)] && !(deaf & (1 << PROCESS(turn))) -> grant(turn); taken = 1; spot++
        :: else ->
          deaf = deaf | (1 << PROCESS(turn));
          skipped[PROCESS(turn)] = 1;
#ifdef MUT_POP
          evict(turn)
#else
          deadline[turn] = BRIEF;
          fraction[turn] = 1;
          spot++
#endif
        fi
      fi
    fi
  :: else -> break
  od;
  /* All of a dead client's. */
  spot = 0;
  do
  :: dead != 0 && spot < length ->
    turn = queue[spot];
    if
    :: dead & (1 << PROCESS(turn)) -> evict(turn)
    :: else -> spot++
    fi
  :: else -> break
  od
}

/* Who was let in on trial, or asks again, leaves the line and has its whole lease. */
inline settle(n, long) {
  find(n);
  lease = (IS_QUEUED || long > lease -> long : lease);
  take_out(n)
}

/* The lock is free: whether it is left to others. */
inline open_up(p) {
  crowd = 0;
  for (each : 1 .. OURS) { crowd = crowd + (each != p && attends[each]) };
#if THEIRS > 0
  for (each : 0 .. THEIRS - 1) { crowd = crowd + counted[each] };
#endif
#ifdef MUT_NO_TURN
  crowd = 0;
#endif
  if
  :: crowd == 0 || (recent && row < TURN) || (!came && pause && row < PAUSE) ->
#ifdef STRICT
    assert(crowd == 0 || (recent && row < TURN) || !took);
#endif
    opens = 0
  :: else ->
    opens = 1;
    if
    :: length > 0 -> opens = listening[PROCESS(queue[0])]
    :: else
    fi;
    if
    :: opens ->
      if
      :: length > 0 -> call(queue[0])
      :: else
      fi;
      turned = (recent -> 2 : turned);
      assert(turned == 2);
      till = OPEN;
      recent = 0;
      pause = !came;
      turn_key = 1;
      row = 0;
      turned = 0;
#ifdef STRICT
      took = 0;
#endif
      due = SOME_THEIRS(IS_WAITING)
    :: else
    fi
  fi
}

/* Who has it by force has no turn of 58 ms, but one visit, where an open turn was before. */
#define SHORT_TURN turned = (till != 0 && lock != NOBODY -> 2 : turned)

/* ---- Our scripts ------------------------------------------------------------------------------------------------- */

/* Ours have it again. */
#if defined(MUT_STAYS_OPEN) || defined(MUT_NO_NEW_TURN)
#define END_TURN skip
#else
#define END_TURN if :: till != 0 -> till = 0; recent = 1 :: else fi
#endif

#ifdef MUT_SHORT_TURN
#define END_TURN_OF_ALL skip
#else
#define END_TURN_OF_ALL END_TURN
#endif

inline acquire(p) {
  if
  :: lock == name -> answer = HELD
#ifdef MUT_BARGE
  :: lock == NOBODY && till != OPEN ->
#else
  :: lock == NOBODY && length == 0 && till != OPEN ->
#endif
    END_TURN;
    hold(name, want);
    answer = HELD
  :: else -> answer = REFUSED
  fi
}

inline ask(p, joins, news) {
  stranger = STRANGER(lock);
  unheld = (lock == NOBODY);
  came = (stranger && turn_key -> 1 : came);
  /* What it decides it decides where none came. */
  pause = (came -> 0 : pause);
  if
  :: lock == name -> settle(name, want)
  :: else ->
    find(name);
    if
    :: IS_QUEUED -> deadline[name] = AMPLE; fraction[name] = 0
    :: else
    fi
  fi;
#ifdef MUT_STAYS_OPEN
  waits = (till == OPEN && unheld);
#else
  waits = (till == OPEN && unheld && !news);
#endif
  if
  :: !waits -> serve_line(p, name, want)
  :: else
  fi;
  find(name);
  if
  :: lock == name -> answer = HELD
  :: lock != name && !IS_QUEUED && !joins -> answer = GONE
  :: lock != name && !IS_QUEUED && joins && lock == NOBODY && !waits -> hold(name, want); answer = HELD
  :: else ->
    if
    :: !IS_QUEUED ->
      queue[length] = name;
      length++;
      deadline[name] = AMPLE;
      fraction[name] = 0;
      skipped[p] = 0
    :: else
    fi;
    answer = (queue[0] == name && (unheld || stranger) -> (waits -> OPENED : OTHERS) : BEHIND)
  fi;
  if
  :: unheld && !waits && lock != NOBODY -> END_TURN
  :: else
  fi;
  if
  :: phase[p] != DEAD && NAME(p) == name ->
    ADD(former[p], fresh[p]);
    fresh[p] = 0;
    forced[p] = (lock != name && !BELIEVES(p) && len(replies[p - 1]) == 0 -> 0 : forced[p]);
    unasked = (queue[0] == name -> 0 : unasked)
  :: else
  fi
}

inline confirm(p) {
  if
  :: lock == name -> settle(name, want); answer = HELD
  :: else -> answer = LOST; forced[p] = (BELIEVES(p) || NAME(p) != name || len(replies[p - 1]) > 0 -> forced[p] : 0)
  fi
}

/* Nothing hangs on its reply. */
inline release(p) {
  freed = (lock == name);
  lock = (freed -> NOBODY : lock);
  lease = (freed -> 0 : lease);
  lined = (length > 0);
  if
  :: lined || freed ->
    find(name);
    waited = IS_QUEUED;
    take_out(name);
    opens = 0;
    if
    :: freed -> open_up(p)
    :: else -> opens = (till == OPEN)
    fi;
    if
    :: opens && waited && length > 0 -> call(queue[0])
#ifndef MUT_HERD
    :: lined && !opens && (freed || waited) && lock == NOBODY -> END_TURN_OF_ALL; serve_line(p, NOT_ONE, 0)
#endif
    :: else
    fi;
    if
    :: freed && (!lined || opens || lock == NOBODY) -> publish()
    :: else
    fi
  :: else
  fi
}

inline pass() {
  was = TWIN(name);
  if
  :: lock == was || lock == name -> lock = name; lease = want; answer = HELD
  :: else -> answer = LOST
  fi
}

inline check() {
  answer = (lock == name -> HELD : LOST)
}

inline execute(p) {
  if
  :: what == ACQUIRE -> acquire(p)
  :: what == JOIN -> ask(p, true, false)
  :: what == POLL -> ask(p, false, false)
  :: what == POLL_NEWS -> ask(p, false, true)
  :: what == CONFIRM -> confirm(p)
  :: what == RELEASE -> release(p)
  :: what == PASS -> pass()
  :: what == CHECK -> check()
  fi
}

/* ---- Our clients ------------------------------------------------------------------------------------------------- */

inline send(p, kind, n, long) {
  assert(len(requests[p - 1]) < ROOM);
  requests[p - 1]!kind, n, long;
  pending[n]++
}

/* It waits at this place no more. */
inline forget(p) {
  confirming[p] = 0;
  mixed[p] = 0;
  had[p] = 0;
  wary[p] = 0;
  heard[p] = 0;
  fresh[p] = 0;
  former[p] = 0;
  old[p] = 0;
  called[p] = 0;
  stirred[p] = 0;
  attends[p] = 0;
  knows[p] = 0
}

/* By its other name, of which nothing is left. */
inline rename(p) {
  forget(p);
  half[p] = 1 - half[p];
  assert(pending[NAME(p)] == 0 && lock != NAME(p) && !QUEUED_NOW(NAME(p)));
  forced[p] = 0
}

#define MAY_STAND(p) (WANTED(p) && pending[TWIN(NAME(p))] == 0)

/* The first here joins the line, for all. */
inline stand(p) {
  if
  :: MAY_STAND(p) ->
    rename(p);
    phase[p] = JOINING;
    send(p, JOIN, NAME(p), LEASE(p))
  :: else ->
    forget(p);
    phase[p] = IDLE
  fi
}

inline let_go(p) {
  send(p, RELEASE, NAME(p), 0);
  forced[p] = 0;
  stand(p)
}

/* Whoever is first here has it now. */
inline begin(p, how) {
  forget(p);
  assert(first[p] < last[p]);
  terms[p] = LEASE(p);
  trust[p] = (how == STARTED -> TRIAL : terms[p]);
  phase[p] = how;
  first[p]++;
  check_exclusion()
}

/* Whose turn it was has gone, or is over: its place is the next one's. */
inline vacate(p) {
  was = LEASE(p);
  first[p]++;
  if
  :: !(STANDS(p) || phase[p] == ASKING)
  :: (STANDS(p) || phase[p] == ASKING) && WANTED(p) -> mixed[p] = (mixed[p] || was != LEASE(p))
#ifdef MUT_GIVEN_TO_GONE
  :: phase[p] == WAITING && !WANTED(p)
#endif
  :: else -> let_go(p)
  fi
}

inline ask_first(p) {
  if
  :: STANDS(p) && !confirming[p] -> send(p, CONFIRM, NAME(p), LEASE(p)); confirming[p] = 1
  :: else
  fi
}

/* The server has it as the holder, for the lease that was asked for. */
inline has_it(p) {
  if
#ifndef MUT_MIXED
  :: mixed[p] ->
    had[p] = 1;
    phase[p] = WAITING;
    ask_first(p)
#endif
  :: else -> begin(p, WORKING)
  fi
}

inline lost_while_working(p) {
  assert(forced[p] || stalled[p]);
  let_go(p)
}

inline attend(p) {
  if
  :: answer == BEHIND -> attends[p] = 0; stirred[p] = 0; knows[p] = 0
  :: else ->
#ifdef MUT_HASTY
    called[p] = (answer == OPENED && knows[p] == 0 -> 1 : called[p]);
    knows[p] = (answer == OPENED && knows[p] == 0 -> NEWS : knows[p]);
#else
    knows[p] = (answer == OPENED && knows[p] == 0 -> PATIENT : knows[p]);
#endif
    if
    :: !attends[p] -> attends[p] = 1; called[p] = 1
    :: else
    fi
  fi
}

#define ASKS(kind) ((kind) >= ACQUIRE && (kind) <= POLL_NEWS)

inline hear_reply(p) {
  pending[name]--;
  if
  /* Its grant has lapsed, but it may stand in the line still. */
  :: NAME(p) != name && what == CONFIRM && answer == LOST && phase[p] == PASSING -> send(p, RELEASE, name, 0)
  :: (NAME(p) != name && !(what == CONFIRM && answer == LOST && phase[p] == PASSING)) || phase[p] == IDLE
  :: else ->
    if
    :: answer == OUTLIVED && (STANDS(p) || phase[p] == ASKING || phase[p] == PASSING) ->
      /* The caller is told. */
      first[p] = (WANTED(p) -> first[p] + 1 : first[p]);
      let_go(p)
    :: answer == OUTLIVED && BELIEVES(p) -> lost_while_working(p)
    :: ASKS(what) && answer == HELD && (STANDS(p) || phase[p] == ASKING) && !had[p] -> has_it(p)
    :: what == ACQUIRE && answer == REFUSED && phase[p] == ASKING ->
      phase[p] = JOINING;
      send(p, JOIN, name, LEASE(p))
    :: (what == JOIN || what == POLL || what == POLL_NEWS) && (answer == OTHERS || answer == OPENED || answer == BEHIND) && STANDS(p) ->
      phase[p] = WAITING;
      attend(p)
    :: (what == POLL || what == POLL_NEWS) && answer == GONE && phase[p] == WAITING && !had[p] -> stand(p)
    :: what == CONFIRM && answer == HELD && phase[p] == TRIED -> phase[p] = WORKING; trust[p] = want
    :: what == CONFIRM && answer == LOST && (phase[p] == TRIED || (phase[p] == WORKING && !confirming[p])) -> lost_while_working(p)
    :: what == CONFIRM && STANDS(p) ->
      confirming[p] = 0;
      if
      :: answer == HELD && LEASE(p) != want -> ask_first(p)
      :: answer == HELD && LEASE(p) == want -> begin(p, WORKING)
      :: answer == LOST && had[p] -> stand(p)
      :: answer == LOST && !had[p] -> wary[p] = 1; called[p] = 1; forced[p] = 0
      fi
    :: what == PASS && phase[p] == PASSING ->
      if
      :: answer == HELD && WANTED(p) && LEASE(p) == want -> begin(p, WORKING)
      :: answer == HELD && !(WANTED(p) && LEASE(p) == want) -> let_go(p)
      :: else -> forced[p] = 0; stand(p)
      fi
    :: what == CHECK && answer == LOST && (phase[p] == TRIED || phase[p] == WORKING) ->
#ifdef MUT_TAKEN
      if
      :: WANTED(p) && terms[p] == LONG && LEASE(p) == LONG -> forced[p] = 0; first[p]++; check_exclusion()
      :: else -> lost_while_working(p)
      fi
#else
      lost_while_working(p)
#endif
    :: else
    fi
  fi
}

inline drain(p) {
  do
  :: len(requests[p - 1]) > 0 -> requests[p - 1]?what, name, want
  :: len(requests[p - 1]) == 0 && len(replies[p - 1]) > 0 -> replies[p - 1]?what, name, want, answer
  :: len(requests[p - 1]) == 0 && len(replies[p - 1]) == 0 -> break
  od
}

/* Whether a poll of this process would change anything, or tell it anything. */
#define IS_STALE(n) ((n) != NOBODY && deadline[n] == STALE)
#define DEAD_AHEAD (IS_STALE(queue[0]) || (lock == queue[0] && IS_STALE(queue[1])))
#define HEADS(p) (queue[0] == NAME(p))
#define LEFT_TO_THEM (till == OPEN && lock == NOBODY)
#define NEEDS_POLL(p) (lock == NAME(p) || !QUEUED_NOW(NAME(p)) || deadline[NAME(p)] != AMPLE || fraction[NAME(p)] || DEAD_AHEAD \
  || (lock == NOBODY && (till != OPEN || (HEADS(p) && knows[p] == NEWS))) \
  || (HEADS(p) && !attends[p] && (STRANGER(lock) || LEFT_TO_THEM)) || (HEADS(p) && LEFT_TO_THEM && knows[p] == 0))

inline tell_kind() {
  if
  :: what == ACQUIRE -> printf("acquire ")
  :: what == JOIN -> printf("ask to join ")
  :: what == POLL -> printf("ask ")
  :: what == POLL_NEWS -> printf("ask with news ")
  :: what == CONFIRM -> printf("confirm ")
  :: what == RELEASE -> printf("release ")
  :: what == PASS -> printf("pass ")
  :: what == CHECK -> printf("renew ")
  fi
}

/* The confirmation takes the place out of the line. */
#ifdef MUT_ON_TRIAL
#define MAY_PASS(p) BELIEVES(p)
#else
#define MAY_PASS(p) (phase[p] == TRIED || phase[p] == WORKING)
#endif

#ifdef PACED            /* The head waits for 10 ms, a stranger that was told asks within 5; nor is a visit shorter than the way of a message. */
#define MAY_END (!(lock == NOBODY && SOME_THEIRS(IS_ROUSED)))
#define ABOUT_TO_ASK(p) (phase[p] == WAITING && attends[p] && (called[p] || stirred[p] || !SILENT(p)))
#define MAY_RELEASE (!SOME_OURS(ABOUT_TO_ASK))
#else
#define MAY_END true
#define MAY_RELEASE true
#endif

proctype Our(byte p) {
end:
  do
  :: d_step { phase[p] != DEAD && last[p] < COME(p) && (phase[p] != IDLE || WANTED(p)) ->
       last[p]++;
       tell("one more comes in %d\n", p) }
  :: d_step { phase[p] == IDLE && !WANTED(p) && last[p] < COME(p) && IN_TURN(p) ->
       last[p]++;
       stand(p);
       tell("one comes in %d, which joins\n", p) }
  :: d_step { phase[p] == IDLE && !WANTED(p) && last[p] < COME(p) && IN_TURN(p) && pending[TWIN(NAME(p))] == 0 ->
       last[p]++;
       rename(p);
       phase[p] = ASKING;
       send(p, ACQUIRE, NAME(p), LEASE(p));
       tell("one comes in %d, which asks\n", p) }
  :: d_step { phase[p] == IDLE && MAY_STAND(p) ->
       stand(p);
       tell("%d joins now\n", p) }

  /* The server executes what came, also for the dead, unless their connection is reset. */
  :: d_step { len(requests[p - 1]) > 0 ->
       requests[p - 1]?what, name, want;
       execute(p);
       tell_kind();
       if
       :: what == RELEASE -> pending[name]--
       :: what != RELEASE && phase[p] != DEAD -> replies[p - 1]!what, name, want, answer
       :: else
       fi;
       tell("runs, of %d\n", p) }
  :: d_step { len(requests[p - 1]) > 0 && phase[p] == DEAD ->
       drain(p);
       tell("the requests of %d never run\n", p) }
  :: d_step { len(replies[p - 1]) > 0 && phase[p] != DEAD ->
       replies[p - 1]?what, name, want, answer;
       hear_reply(p);
       tell("%d hears a reply\n", p) }

#ifndef MUT_NO_POLL
  :: d_step { phase[p] == WAITING && SILENT(p) && !confirming[p] && (called[p] || NEEDS_POLL(p) || spare > 0) ->
#else
  :: d_step { phase[p] == WAITING && SILENT(p) && !confirming[p] && called[p] ->
#endif
       if
       :: called[p] ->
         called[p] = 0;
         asks++;
         assert(asks <= (THEIRS == 0 -> 1 : 4) * (1 + FAULTS + FORGED + LOSSES))
       :: !called[p] && !NEEDS_POLL(p) -> spare--
       :: else
       fi;
       send(p, (knows[p] == NEWS -> POLL_NEWS : POLL), NAME(p), LEASE(p));
       tell("%d asks\n", p) }

#if ABORTS > 0
  :: d_step { aborts > 0 && phase[p] != DEAD && WANTED(p) ->
       aborts--;
       vacate(p);
       tell("the first who waits in %d gives up\n", p) }
#endif

  /* At work. */
  :: d_step { phase[p] == STARTED ->
       send(p, CONFIRM, NAME(p), terms[p]);
       phase[p] = TRIED;
       tell("%d sends its confirmation\n", p) }
  :: d_step { BELIEVES(p) ->
       let_go(p);
       tell("%d sends its release\n", p) }
  :: d_step { BELIEVES(p) && WANTED(p) && terms[p] == LONG && LEASE(p) == LONG ->
       first[p]++;
       tell("in %d the next one has it from hand to hand\n", p) }
#ifdef MIXED
  :: d_step { MAY_PASS(p) && MAY_STAND(p) && !(terms[p] == LONG && LEASE(p) == LONG) ->
       half[p] = 1 - half[p];
       assert(pending[NAME(p)] == 0 && lock != NAME(p) && !QUEUED_NOW(NAME(p)));
       send(p, PASS, NAME(p), LEASE(p));
       phase[p] = PASSING;
       tell("%d passes it on to the next one, who wants another lease\n", p) }
#endif
#if FORCES + DELETES > 0
  :: d_step { (phase[p] == TRIED || phase[p] == WORKING) && lock != NAME(p) && pending[NAME(p)] == 0 ->
       send(p, CHECK, NAME(p), 0);
       tell("%d asks whether it has it still\n", p) }
#endif
#if STALLS > 0
  :: d_step { stalls > 0 && BELIEVES(p) ->
       stalls--;
       stalled[p] = 1;
       let_go(p);
       tell("%d trusts no more\n", p) }
#endif

  /* Grants: doubled, lost, in time, late. */
#if DOUBLES > 0
  :: d_step { doubles > 0 && fresh[p] > 0 ->
       doubles--;
       fresh[p]++;
       tell("a grant of %d is told twice\n", p) }
#endif
#if LOSSES > 0
  :: d_step { losses > 0 && fresh[p] > 0 ->
       losses--;
       fresh[p]--;
       tell("a grant of %d is lost\n", p) }
  :: d_step { losses > 0 && called[p] ->
       losses--;
       called[p] = 0;
       tell("a call of %d is lost\n", p) }
  :: d_step { losses > 0 && stirred[p] ->
       losses--;
       stirred[p] = 0;
       tell("a message of Redisson's is lost on the way to %d\n", p) }
#endif
  :: d_step { fresh[p] > 0 && heard[p] ->
       fresh[p]--;
       tell("%d hears of a grant again\n", p) }
  :: d_step { fresh[p] > 0 && !heard[p] && phase[p] == WAITING && pending[NAME(p)] == 0 && !wary[p] && !had[p] ->
       begin(p, STARTED);
       tell("%d hears of a grant and starts\n", p) }
  /* Not provably fresh. */
  :: d_step { fresh[p] > 0 && !heard[p] && !(phase[p] == WAITING && pending[NAME(p)] == 0 && !wary[p] && !had[p]) ->
       fresh[p]--;
       heard[p] = 1;
       ask_first(p);
       tell("%d hears of a grant\n", p) }
  :: d_step { former[p] > 0 ->
       former[p]--;
#ifdef MUT_ROUND
       if
       :: phase[p] == WAITING && pending[NAME(p)] == 0 && !wary[p] && !had[p] -> begin(p, STARTED)
       :: else -> ask_first(p)
       fi;
#else
       ask_first(p);
#endif
       tell("%d hears of a grant of an earlier round\n", p) }
  :: d_step { old[p] > 0 ->
       old[p]--;
       ask_first(p);
       tell("%d hears late of a grant\n", p) }

  /* Strangers. */
#if FORGED > 0
  :: d_step { forged > 0 && STANDS(p) && !called[p] ->
       forged--;
       called[p] = 1;
       tell("somebody calls %d\n", p) }
  :: d_step { forged > 0 && attends[p] && !stirred[p] ->
       forged--;
       stirred[p] = 1;
       tell("somebody publishes on Redisson's channel, to %d\n", p) }
#endif
#ifdef MUT_DEAF
  :: d_step { stirred[p] ->
       stirred[p] = 0;
       tell("%d does not hear strangers\n", p) }
#else
  :: d_step { stirred[p] && knows[p] == PATIENT ->
       stirred[p] = 0;
       tell("%d hears that a stranger was through\n", p) }
  :: d_step { stirred[p] ->
       stirred[p] = 0;
       called[p] = 1;
       knows[p] = (knows[p] == PATIENT -> NEWS : knows[p]);
       tell("%d hears that strangers are through\n", p) }
#endif
  :: d_step { knows[p] == PATIENT && MAY_END ->
       knows[p] = NEWS;
       called[p] = 1;
       tell("%d hears nothing more\n", p) }
  :: d_step { knows[p] != 0 && till != OPEN ->
       called[p] = (knows[p] == PATIENT -> 1 : called[p]);
       knows[p] = 0;
       tell("for %d their time is over\n", p) }
  od
}

/* ---- A stranger -------------------------------------------------------------------------------------------------- */

#if THEIRS > 0
inline ask_as_theirs(p) {
  if
  :: lock == NOBODY ->
    lock = THEM(p);
    lease = LONG;
    role[S(p)] = WORKING;
    counted[S(p)] = 0;
    told[S(p)] = 0;
    forced[p] = 0;
    count_theirs();
    check_exclusion()
  :: else ->
    /* Having subscribed it asks once more. */
    told[S(p)] = (role[S(p)] == IDLE);
    role[S(p)] = WAITING;
    counted[S(p)] = 1
  fi
}

proctype Their(byte p) {
end:
  do
  :: d_step { (role[S(p)] == IDLE && visits[S(p)] > 0 && (p == OURS + 1 || role[S(p - 1)] != IDLE || visits[S(p - 1)] < VISITS)) || IS_ROUSED(S(p)) ->
       ask_as_theirs(p);
       tell("%d, a stranger, asks\n", p) }
  :: d_step { spare > 0 && IS_WAITING(S(p)) && lock == NOBODY ->
       spare--;
       ask_as_theirs(p);
       tell("%d, a stranger, asks of itself\n", p) }
  :: d_step { role[S(p)] == WORKING && MAY_RELEASE ->
       role[S(p)] = IDLE;
       visits[S(p)]--;
       if
       :: lock == THEM(p) -> lock = NOBODY; lease = 0; publish()
       :: else
       fi;
       forced[p] = 0;
       tell("%d, a stranger, releases\n", p) }
#if DEATHS > 0
  :: d_step { deaths > 0 && (role[S(p)] == WAITING || role[S(p)] == WORKING) ->
       deaths--;
       role[S(p)] = DEAD;
       told[S(p)] = 0;
       forced[p] = 0;
       due = 0;
       tell("%d, a stranger, dies\n", p) }
  :: d_step { role[S(p)] == DEAD && counted[S(p)] ->
       counted[S(p)] = 0;
       tell("%d, a stranger, listens no more, as the server sees\n", p) }
#endif
  od
}
#endif

/* ---- Time, death, the network, an operator ----------------------------------------------------------------------- */

/* A living process has something to say about that name. */
#define INTERESTED(n) (pending[n] > 0 || (n == NAME(PROCESS(n)) && phase[PROCESS(n)] != IDLE) || phase[PROCESS(n)] == PASSING)
#define TRUSTS(n) (BELIEVES(PROCESS(n)) && n == NAME(PROCESS(n)))
#define MAY_LAPSE_OURS(n) (phase[PROCESS(n)] == DEAD || (TRUSTS(n) -> trust[PROCESS(n)] > lease : (!INTERESTED(n) || stalls > 0)))
#if THEIRS > 0
#define MAY_LAPSE(n) ((n) != NOBODY && (STRANGER(n) -> role[(n) - NAMES - 1] == DEAD : MAY_LAPSE_OURS(n)))
#else
#define MAY_LAPSE(n) ((n) != NOBODY && MAY_LAPSE_OURS(n))
#endif
#define MAY_STALE(n) ((n) != NOBODY && deadline[n] != STALE && lock != (n) \
  && (phase[PROCESS(n)] == DEAD || !INTERESTED(n) || (stalls > 0 && !TRUSTS(n))))

inline take_stall(n) {
  who = PROCESS(n);
  if
  :: phase[who] != DEAD && INTERESTED(n) && !TRUSTS(n) -> stalls--; stalled[who] = 1
  :: else
  fi
}

inline lapse() {
  name = lock;
  lock = NOBODY;
  lease = 0;
#if THEIRS > 0
  for (each : 0 .. THEIRS - 1) { told[each] = (role[each] == WAITING -> 1 : told[each]) };
#endif
  if
  :: !STRANGER(name) ->
    take_stall(name);
    if
    :: NAME(who) == name && phase[who] != DEAD ->
      ADD(old[who], fresh[who] + former[who]);
      fresh[who] = 0;
      former[who] = 0
    :: else
    fi;
    deadline[name] = STALE;
    /* Replies that tell of this lease come too late. */
    for (each : 1 .. ROOM) {
      if
      :: each <= len(replies[who - 1]) ->
        replies[who - 1]?what, turn, want, answer;
        answer = (turn == name && answer == HELD -> OUTLIVED : answer);
        replies[who - 1]!what, turn, want, answer
      :: else
      fi
    }
  :: else
  fi
}

inline stale(n) {
  take_stall(n);
  deadline[n] = STALE
}

inline kill(p) {
  phase[p] = DEAD;
  forget(p);
  forced[p] = 0;
  first[p] = 0;
  last[p] = 0;
  stalled[p] = 0;
  skipped[p] = 0;
  trust[p] = 0;
  terms[p] = 0;
  do
  :: len(replies[p - 1]) > 0 -> replies[p - 1]?what, name, want, answer
  :: len(replies[p - 1]) == 0 -> break
  od
}

#define REMAINS(n, a) ((n) != NOBODY && phase[PROCESS(n)] != DEAD)

proctype Server() {
end:
  do
  :: d_step { MAY_LAPSE(lock) ->
       lapse();
       tell("the lease of %d runs out\n", name) }
  :: d_step { MAY_STALE(queue[0]) ->
       stale(queue[0]);
       tell("the deadline of %d comes\n", queue[0]) }
  :: d_step { lock == queue[0] && MAY_STALE(queue[1]) ->
       stale(queue[1]);
       tell("the deadline of %d comes\n", queue[1]) }
  /* The line's keys live as long as their last deadline and a while. */
  :: d_step { length > 0 && !SOME_PLACE(REMAINS, 0) ->
       do
       :: length > 0 -> turn = queue[0]; take_out(turn)
       :: else -> break
       od;
       tell("the line's keys expire\n", 0) }
#if THEIRS > 0
#ifndef MUT_STAYS_OPEN
  :: d_step { till == OPEN && MAY_END ->
       till = ENDED;
       tell("the strangers' time is over\n", 0) }
#endif
  :: d_step { recent ->
       recent = 0;
       turned = (turned == 1 -> 2 : turned);
       tell("58 ms have passed\n", 0) }
  :: d_step { pause ->
       pause = 0;
       tell("a second has passed\n", 0) }
  :: d_step { turn_key && till != OPEN ->
       till = 0;
       recent = 0;
       came = 0;
       pause = 0;
       turn_key = 0;
       turned = 2;
       tell("the key of the turns expires\n", 0) }
#endif
#if FORCES > 0
  :: d_step { forces > 0 && lock != NOBODY ->
       forces--;
       name = lock;
       forced[(STRANGER(name) -> WHO(name) : PROCESS(name))] = 1;
       lock = NOBODY;
       lease = 0;
       if
       :: !STRANGER(name) -> take_out(name)
       :: else
       fi;
       serve_line(0, NOT_ONE, 0);
       SHORT_TURN;
       publish();
       tell("%d is released by force\n", name) }
#endif
#if DELETES > 0
  :: d_step { deletes > 0 && lock != NOBODY ->
       deletes--;
       name = lock;
       forced[(STRANGER(name) -> WHO(name) : PROCESS(name))] = 1;
       lock = NOBODY;
       lease = 0;
       publish();
       tell("the lock of %d is deleted\n", name) }
#endif
  od
}

/* What befalls a process. */
proctype Fate(byte p) {
end:
  do
#if DEATHS > 0
  :: d_step { deaths > 0 && phase[p] != DEAD && phase[p] != IDLE ->
       deaths--;
       kill(p);
       tell("%d dies\n", p) }
  /* The server sees that a connection is gone. */
  :: d_step { listening[p] && phase[p] == DEAD ->
       listening[p] = 0;
       tell("%d listens no more, as the server sees\n", p) }
#endif
#if DROPS > 0
  :: d_step { drops > 0 && listening[p] && phase[p] != DEAD && phase[p] != IDLE ->
       drops--;
       listening[p] = 0;
       fresh[p] = 0;
       former[p] = 0;
       old[p] = 0;
       called[p] = 0;
       tell("%d listens no more\n", p) }
  /* Messages may have been missed. */
  :: d_step { !listening[p] && phase[p] != DEAD ->
       listening[p] = 1;
       called[p] = STANDS(p);
       tell("%d listens again\n", p) }
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
    for (each : 1 .. OURS) {
      assert(phase[each] == DEAD || (phase[each] == IDLE && first[each] == last[each]));
      assert(phase[each] == DEAD || !attends[each])
    };
#if THEIRS > 0
    for (each : 0 .. THEIRS - 1) { assert(role[each] == DEAD || visits[each] == 0) };
#endif
    assert(lock == NOBODY);
    assert(length == 0)
  }
}

init {
  atomic {
    for (each : 1 .. OURS) { listening[each] = 1; run Our(each); run Fate(each) };
#if THEIRS > 0
    for (each : OURS + 1 .. CROWD) { visits[S(each)] = VISITS; run Their(each) };
#endif
    run Server();
    run End()
  }
}

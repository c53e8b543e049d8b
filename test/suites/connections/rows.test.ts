import { smoke } from '../contract/smoke.js'
import { rowOf } from '../../support/rows.js'

// The others have files of their own.
for (const name of ['ioredis, Sentinel', 'node-redis, Cluster', 'TLS + ACL for `app:`']) smoke(rowOf(name))

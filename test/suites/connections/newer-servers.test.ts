import { smoke } from '../contract/smoke.js'
import { rowOf } from '../../support/rows.js'

for (const name of ['ioredis, Valkey 8', 'ioredis, Redis 8']) smoke(rowOf(name))

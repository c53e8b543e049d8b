import assert from 'node:assert/strict'
import { test } from 'node:test'
import { highwayHash128 } from '#src/sync/keyed-lock/highway-hash.js'

/** By its authors: of the bytes 0, 1, 2 … under the key 00 01 … 1f, by their number. */
const PUBLISHED: Readonly<Record<number, string>> = {
  0: '0FED268F9D8FFEC733565E767F093E6F',
  1: 'D6B0A8893681E7A8DC291DF9EB9CDCB4',
  2: '3D15AD265A16DA0478085638DC32E868',
  3: '0607621B295F0BEBBFE69A0FD9CEDD79',
  4: '26399EB46DACE49E2E922AD039319208',
  5: '3250BDC386D12ED8193810906C63C23A',
  7: '2A401FCA697171B4BE1F03FF9F02796C',
  8: 'A1E96D84280552E8695CF1C63BEC0AC2',
  15: '142237A52BC4AF54E0796C0B6E26BCD7',
  16: '414460FFD5A401AD029EA3D5019F18C8',
  17: 'C52A4B96C51C9962ECB878B1169B5EA0',
  18: 'D940CA8F11FBEACEF93A46D616F8D531',
  19: '8AC49D0AE5C0CBF53FFDBF8DF51D7C93',
  30: '024F8354738A5206509A4918EB7E0991',
  31: '06E7B465E8A57C2952415E3A07F5D446',
  32: '1984DF66C1434AAA16FC1958F9B3E4B9',
  33: '111678AFE0C6C36CF958B59DE5A2849D',
  47: '39C27A27C86D95208DB620A45160932E',
  48: '8E6A4AEB671A072D6ED3561A10E47EE6',
  63: '74BD7018022F3EF03AEA94A8AD5F4BCB',
  64: '98BB1F7198D4C4F2E0BC0571DE918FC8',
}

const KEY = Array.from({ length: 8 }, (_, i) => (4 * i + 3) * 2 ** 24 + (4 * i + 2) * 65536 + (4 * i + 1) * 256 + 4 * i)

void test('HighwayHash-128 → what its authors publish, for every kind of length', () => {
  for (const [length, expected] of Object.entries(PUBLISHED)) {
    const data = Uint8Array.from({ length: Number(length) }, (_, i) => i)
    assert.equal(Buffer.from(highwayHash128(data, KEY)).toString('hex').toUpperCase(), expected, `of ${length} bytes`)
  }
})

void test('bytes in the middle of a buffer → the same', () => {
  const data = Uint8Array.from({ length: 70 }, (_, i) => i)
  const inside = new Uint8Array([9, ...data, 9]).subarray(1, 71)
  assert.deepEqual(highwayHash128(inside, KEY), highwayHash128(data, KEY))
})

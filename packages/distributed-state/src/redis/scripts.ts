/**
 * The rules of `@model-gateway/limits` implemented a second time, inside Redis: each script touches one key, is atomic, and takes the time from the
 * server. A scope's record is one packed value. Numbers stay whole and below 2^53, which Lua's doubles hold exactly.
 */

const open = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local raw = redis.call('GET', KEYS[1])
local s = raw and cmsgpack.unpack(raw) or nil
`;

const day = 86_400_000;

/** ARGV: rpm, tpm, max, interval, initial (-1: not limited). */
const gate = `${open}
local function limit(at)
  local n = tonumber(ARGV[at])
  if n < 0 then return nil end
  return n
end
local rpm, tpm, most, interval, initial = limit(1), limit(2), limit(3), limit(4), tonumber(ARGV[5])
s = s or { next = 0, h = {}, w = {} }
local function refill(name, rate)
  if not rate then s[name] = nil return end
  local b = s[name]
  if not b then s[name] = { l = rate * 600 * initial, a = now } return end
  local elapsed = math.min(math.max(0, now - b.a), 120000)
  b.l = math.min(rate * 60000, b.l + elapsed * rate)
  b.a = math.max(b.a, now)
end
refill('rpm', rpm)
refill('tpm', tpm)
local function others(holder)
  local held = 0
  for name, one in pairs(s.h) do
    if one.u <= now then s.h[name] = nil elseif name ~= holder then held = held + one.n end
  end
  return held
end
local function wait_of(name, rate, tokens)
  if not rate then return 0 end
  return math.max(0, math.ceil((math.min(tokens, rate) * 60000 - s[name].l) / rate))
end
local function wait_for(tokens)
  local wait = interval and math.max(0, math.min(s.next - now, interval)) or 0
  return math.max(wait, wait_of('rpm', rpm, 1), wait_of('tpm', tpm, tokens))
end
local function note(holder, held, lease)
  if held > 0 then s.h[holder] = { n = held, u = now + lease } else s.h[holder] = nil end
end
local function save()
  redis.call('SET', KEYS[1], cmsgpack.pack(s), 'PX', ${day})
end
`;

/** ARGV 6…: holder, held, waits, lease, poll, grace, costs. Returns granted, retryMs (-1: after a release of its own), used. */
const take = `${gate}
local holder, held, waits, lease, poll, grace = ARGV[6], tonumber(ARGV[7]), ARGV[8] == '1', tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11])
local used = held + others(holder)
local shared = used > held
local mine = s.w[holder] and s.w[holder].s or math.huge
local late = false
for name, one in pairs(s.w) do
  if one.u <= now then s.w[name] = nil
  elseif name ~= holder and (one.s < mine or (one.s == mine and name < holder)) then late = true end
end
local granted, count, retry = 0, #ARGV - 11, 0
while granted < count do
  if late then retry = poll break end
  if most and used >= most then retry = shared and poll or -1 break end
  local cost = tonumber(ARGV[12 + granted])
  retry = wait_for(cost)
  if retry > 0 then break end
  if rpm then s.rpm.l = s.rpm.l - 60000 end
  if tpm then s.tpm.l = s.tpm.l - math.min(cost, tpm) * 60000 end
  if interval then s.next = now + interval end
  used = used + 1
  granted = granted + 1
end
note(holder, most and held + granted or 0, lease)
if granted < count and waits then
  local since = (granted > 0 or mine == math.huge) and now or mine
  s.w[holder] = { s = since, u = now + (retry < 0 and poll or retry) + grace }
else
  s.w[holder] = nil
end
save()
return { granted, granted < count and retry or 0, used }
`;

/** ARGV 6…: holder, held, tokens, lease, calls that were never made (below zero: that did not ask). */
const give = `${gate}
if tpm then s.tpm.l = math.min(tpm * 60000, math.max(-tpm * 60000, s.tpm.l - tonumber(ARGV[8]) * 60000)) end
if rpm then s.rpm.l = math.min(rpm * 60000, math.max(-rpm * 60000, s.rpm.l + tonumber(ARGV[10]) * 60000)) end
note(ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[9]))
save()
return 1
`;

/** Read only. Returns used, waitMs, whole tokens left of rpm and tpm, or nothing when the scope is unknown. */
const lookAtGate = `${gate}
if not raw then return {} end
local function left(name, rate) return rate and math.floor(s[name].l / 60000) or 0 end
return { others(''), wait_for(1), left('rpm', rpm), left('tpm', tpm) }
`;

/** ARGV: limit, windowMs, count. Gives allowed, used, retryMs. A list of times for small limits, two counters for large ones. A refused request renews their expiry too, since the window may have become longer. */
const hit = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local limit, window, count = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3] == '1'
local kind = redis.call('TYPE', KEYS[1])['ok']
if limit <= 1000 then
  if kind ~= 'list' and kind ~= 'none' then redis.call('DEL', KEYS[1]) end
  local first = redis.call('LINDEX', KEYS[1], 0)
  while first and tonumber(first) <= now - window do
    redis.call('LPOP', KEYS[1])
    first = redis.call('LINDEX', KEYS[1], 0)
  end
  local used = redis.call('LLEN', KEYS[1])
  if used >= limit then
    if count then redis.call('PEXPIRE', KEYS[1], window) end
    return { 0, used, tonumber(redis.call('LINDEX', KEYS[1], used - limit)) + window - now }
  end
  if count then
    redis.call('RPUSH', KEYS[1], string.format('%.0f', now))
    redis.call('PEXPIRE', KEYS[1], window)
    used = used + 1
  end
  return { 1, used, 0 }
end
if kind ~= 'hash' and kind ~= 'none' then redis.call('DEL', KEYS[1]) end
local s = redis.call('HMGET', KEYS[1], 'w', 'c', 'p')
local old, current, previous = tonumber(s[1] or 0), tonumber(s[2] or 0), tonumber(s[3] or 0)
local present = math.floor(now / window)
if old > present + 1 then
  current = current + previous
  previous = 0
  old = present
end
local number = math.max(old, present)
if number ~= old then
  previous = number == old + 1 and current or 0
  current = 0
end
local elapsed = math.max(0, now - number * window)
local free = limit - current - 1
local weighted = previous * (window - elapsed)
local used = current + math.floor(weighted / window)
if weighted <= free * window then
  if count then
    redis.call('HSET', KEYS[1], 'w', string.format('%.0f', number), 'c', string.format('%.0f', current + 1), 'p', string.format('%.0f', previous))
    redis.call('PEXPIRE', KEYS[1], window * 2)
    used = used + 1
  end
  return { 1, used, 0 }
end
if count then
  redis.call('HSET', KEYS[1], 'w', string.format('%.0f', number), 'c', string.format('%.0f', current), 'p', string.format('%.0f', previous))
  redis.call('PEXPIRE', KEYS[1], window * 2)
end
local retry
if previous > 0 and free >= 0 then retry = math.ceil(window - free * window / previous) - elapsed
else retry = window - elapsed + math.max(0, math.ceil(window - (limit - 1) * window / math.max(1, current))) end
return { 0, used, math.max(1, retry) }
`;

const budget = `${open}
s = s or { h = {} }
local function others(holder)
  local held = s.k or 0
  for name, one in pairs(s.h) do
    if one.u <= now then s.h[name] = nil elseif name ~= holder then held = held + one.n end
  end
  return held
end
local function note(holder, held, lease)
  if held > 0 then s.h[holder] = { n = held, u = now + lease } else s.h[holder] = nil end
end
local function save()
  redis.call('SET', KEYS[1], cmsgpack.pack(s), 'PX', ${40 * day})
end
`;

/** ARGV: holder, held, limit, lease, amounts. Gives granted, spent (-1: unknown), reserved, and what of that tasks hold. */
const reserve = `${budget}
local held, limit = tonumber(ARGV[2]), tonumber(ARGV[3])
local reserved = others(ARGV[1])
local granted, count = 0, #ARGV - 4
while granted < count and (s.spent or 0) + reserved + held < limit do
  held = held + tonumber(ARGV[5 + granted])
  granted = granted + 1
end
note(ARGV[1], held, tonumber(ARGV[4]))
save()
return { granted, s.spent or -1, reserved + held, s.k or 0 }
`;

/**
 * ARGV: holder, held, cost, lease, total charged by the holder. A lost charge is made up by the next one, from the difference of the totals; what the
 * request log rows have reported since is not added a second time.
 */
const charge = `${budget}
local total = tonumber(ARGV[5])
s.t = s.t or {}
local known = s.t[ARGV[1]]
if s.spent then s.spent = s.spent + math.max(tonumber(ARGV[3]), known and total - known or 0) end
if not known then
  local holders = 0
  for _ in pairs(s.t) do holders = holders + 1 end
  if holders >= 64 then s.t = {} end
end
s.t[ARGV[1]] = total
note(ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[4]))
save()
return 1
`;

/** ARGV: spent, held by tasks (-1: unknown). */
const learn = `${budget}
local spent, tasks = tonumber(ARGV[1]), tonumber(ARGV[2] or -1)
if tasks >= 0 then s.k = tasks end
if spent > (s.spent or -1) then
  s.spent = spent
  s.t = {}
end
save()
return 1
`;

const lookAtBudget = `${budget}
if not raw then return {} end
return { s.spent or -1, others(''), s.k or 0 }
`;

/** ARGV: how long it is kept after the last. */
const addAttempt = `
local count = redis.call('INCR', KEYS[1])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return { count }
`;
const countAttempts = `return { tonumber(redis.call('GET', KEYS[1]) or 0) }`;
const clearAttempts = `return { redis.call('DEL', KEYS[1]) }`;
/** ARGV: how many are taken off. The time that is left stays. */
const forgiveAttempts = `
local left = tonumber(redis.call('GET', KEYS[1]) or 0) - tonumber(ARGV[1])
if left > 0 then redis.call('DECRBY', KEYS[1], ARGV[1]) else redis.call('DEL', KEYS[1]) end
return { math.max(0, left) }
`;
/** ARGV: how long. */
const ban = `
redis.call('SET', KEYS[1], 1, 'PX', ARGV[1])
return { 1 }
`;
const banLeft = `return { math.max(0, redis.call('PTTL', KEYS[1])) }`;

/** Writes, as all that counts does: a full server, and one that became a replica, answer everything else. ARGV: how long it is kept. */
const probe = `
redis.call('SET', KEYS[1], 1, 'PX', ARGV[1])
return { 1 }
`;

const attempts = { addAttempt, countAttempts, clearAttempts, forgiveAttempts, ban, banLeft };

export const scripts = { take, give, lookAtGate, hit, reserve, charge, learn, lookAtBudget, probe, ...attempts };
export type ScriptName = keyof typeof scripts;

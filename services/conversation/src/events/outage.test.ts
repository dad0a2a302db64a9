import { expect, test } from "bun:test";
import { fakeClock } from "@parley/testkit/clock";
import { dispatcherOutage } from "./outage.ts";

function waitMs(outage: ReturnType<typeof dispatcherOutage>, clock: ReturnType<typeof fakeClock>): number {
  return (outage.endsAt()?.getTime() ?? clock.now().getTime()) - clock.now().getTime();
}

test("the pause doubles from 1 s to 30 s while the dispatcher is down, and calls that fail together count once", () => {
  const clock = fakeClock();
  const outage = dispatcherOutage(clock);
  expect(outage.endsAt()).toBeNull();
  for (const seconds of [1, 2, 4, 8, 16, 30, 30]) {
    for (const _ of [1, 2, 3]) outage.note(true);
    expect(waitMs(outage, clock)).toBe(seconds * 1_000);
    clock.advance(seconds * 1_000);
    expect(outage.endsAt()).toBeNull();
  }
});

test("a dispatcher that answers is called at once, and its next outage begins with 1 s", () => {
  const clock = fakeClock();
  const outage = dispatcherOutage(clock);
  outage.note(true);
  clock.advance(1_000);
  outage.note(true);
  outage.note(false);
  expect(outage.endsAt()).toBeNull();
  outage.note(true);
  expect(waitMs(outage, clock)).toBe(1_000);
});

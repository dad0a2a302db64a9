import { expect, test } from "bun:test";
import { GetStatisticsResponse } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { presentStatistics } from "./statistics.ts";

test("fewer than 20 replies have a median, and no 95th percentile", () => {
  const of = (replies: number) => {
    const latencies = [{ day: "", isCall: true, replies, p50Ms: 700, p95Ms: 2_000 }];
    const period = { first: new Date(0), end: new Date(0) };
    return presentStatistics(GetStatisticsResponse.fromPartial({ latencies }), period).total.call_latency;
  };
  expect(of(3)).toEqual({ replies: 3, p50_ms: 700, p95_ms: null });
  expect(of(19)?.p95_ms).toBeNull();
  expect(of(20)).toEqual({ replies: 20, p50_ms: 700, p95_ms: 2_000 });
});

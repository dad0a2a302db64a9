import type { TestSetup, ToolMock } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { invalid } from "@parley/shared/errors";
import { refuseUnstorable } from "@parley/shared/json/storable-json";
import { isLonger } from "@parley/shared/text/length";
import type { ToolMock as StoredMock, StoredTest } from "../store/turns/tests.ts";

const ID_MAX = 100;
const TOOL_MAX = 128;
const MOCKS_MAX = 500;
const DELAY_MS_MAX = 120_000;
const BYTES_MAX = 1024 * 1024;

/** The test that a conversation begins with, as it is stored. @throws ServiceError invalid, naming the field */
export function storedTest({ runId, toolMocks, unmockedReal }: TestSetup): StoredTest {
  if (runId === "" || isLonger(runId, ID_MAX))
    throw invalid("test.run_id", `test.run_id must be 1 to ${ID_MAX} characters`);
  if (toolMocks.length > MOCKS_MAX)
    throw invalid("test.tool_mocks", `test.tool_mocks must have at most ${MOCKS_MAX} items`);
  const test = { runId, toolMocks: toolMocks.map(storedMock), unmockedReal };
  refuseUnstorable(test, "test", "test");
  if (Buffer.byteLength(JSON.stringify(test)) > BYTES_MAX) throw invalid("test", "test must be at most 1 MiB");
  return test;
}

function storedMock({ tool, when, delayMs, outcome, once, recorded }: ToolMock, at: number): StoredMock {
  const path = `test.tool_mocks[${at}]`;
  if (tool === "" || isLonger(tool, TOOL_MAX))
    throw invalid(`${path}.tool`, `${path}.tool must be the name of a tool, as the model sees it`);
  if (delayMs < 0 || delayMs > DELAY_MS_MAX)
    throw invalid(`${path}.delay_ms`, `${path}.delay_ms must be 0 to ${DELAY_MS_MAX}`);
  if (!outcome) throw invalid(path, `${path} must have a result or an error`);
  const isError = outcome.$case === "error";
  return { tool, when: when ?? null, delayMs, text: outcome.value, isError, once, recorded };
}

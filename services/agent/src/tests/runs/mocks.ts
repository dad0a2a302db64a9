import type { TestSetup, ToolMock } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { TestDefinition } from "@parley/shared/domain/tests";

/** How the conversation of a test is set up. @param once for the results of a replay, which answer one call each */
export function setupOf(runId: string, test: TestDefinition, once: boolean): TestSetup {
  return {
    runId,
    toolMocks: test.tool_mocks.map(
      ({ tool, when, delay_ms: delayMs, result, recorded, error }): ToolMock => ({
        tool,
        when: when ?? undefined,
        delayMs: delayMs ?? 0,
        outcome: error != null ? { $case: "error", value: error } : { $case: "result", value: textOf(result) },
        ...{ once, recorded: recorded ?? false },
      }),
    ),
    unmockedReal: test.unmocked === "real",
    dynamicVariables: test.variables,
  };
}

/** As a tool's server answers: text as it is, anything else as JSON. */
function textOf(result: unknown): string {
  return typeof result === "string" ? result : JSON.stringify(result ?? null);
}

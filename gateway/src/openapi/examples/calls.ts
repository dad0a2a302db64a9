import type { OperationExamples } from "./example.ts";
import { AGENT_ID, BATCH_ID, CALL_ID, CREATED_AT, ONE_PAGE, SESSION_ID, UPDATED_AT } from "./values.ts";

const call = {
  call_id: CALL_ID,
  conversation_id: SESSION_ID,
  agent_id: AGENT_ID,
  to_mobile_number: "+14155550188",
  from_mobile_number: "+14155550100",
  status: "IN_PROGRESS",
  outcome: null,
  notes: null,
  created_at: CREATED_AT,
  placed_at: CREATED_AT,
  answered_at: CREATED_AT,
  ended_at: null,
  duration_seconds: null,
  is_test_call: false,
  batch_id: null,
};
const ended = { ...call, status: "ENDED", outcome: "SUCCESS", ended_at: UPDATED_AT, duration_seconds: 60 };

const batch = {
  batch_id: BATCH_ID,
  status: "RUNNING",
  name: "June renewals",
  agent_id: AGENT_ID,
  from_mobile_number: call.from_mobile_number,
  total: 2,
  start_at: null,
  created_at: CREATED_AT,
  ended_at: null,
};
const counts = {
  ...{ pending: 1, calling: 1, do_not_call: 0 },
  ...{ success: 0, no_answer: 0, busy: 0, cancelled: 0, hung_up_early: 0, error: 0 },
};
const batchRequest = {
  name: batch.name,
  agent_id: AGENT_ID,
  from_mobile_number: call.from_mobile_number,
  window: { from_time: "09:00", to_time: "17:00", timezone: "America/New_York" },
  retries: { max: 2, after_minutes: 60, on: ["busy", "no_answer", "error"] },
};

export const CALL_EXAMPLES: OperationExamples = {
  createCall: {
    request: {
      agent_id: AGENT_ID,
      to_mobile_number: call.to_mobile_number,
      from_mobile_number: call.from_mobile_number,
      dynamic_variables: { customer_name: "Ada" },
      metadata: { order: "4711" },
      voicemail: "hang_up",
    },
    response: { conversation_id: SESSION_ID, call_id: CALL_ID, status: "QUEUED" },
  },
  listCalls: { response: { calls: [call], ...ONE_PAGE } },
  getCall: { response: ended },
  hangUpCall: { response: ended },
  createCallBatch: {
    requests: {
      calls: {
        summary: "With the numbers as JSON",
        value: {
          ...batchRequest,
          calls: [
            { to_mobile_number: "+14155550188", dynamic_variables: { customer_name: "Ada" } },
            { to_mobile_number: "+14155550189", dynamic_variables: { customer_name: "Bob" } },
          ],
        },
      },
      csv: {
        summary: "With the numbers as CSV",
        value: { ...batchRequest, csv: "to_mobile_number,customer_name\n+14155550188,Ada\n+14155550189,Bob\n" },
      },
    },
    response: { ...batch, counts },
  },
  checkCallBatch: {
    request: { csv: "to_mobile_number,customer_name\n+14155550188,Ada\n+14155550189,Bob\n" },
    response: {
      total: 2,
      calls: [
        { line: 2, to_mobile_number: "+14155550188", dynamic_variables: { customer_name: "Ada" } },
        { line: 3, to_mobile_number: "+14155550189", dynamic_variables: { customer_name: "Bob" } },
      ],
    },
  },
  listCallBatches: { response: { batches: [batch], ...ONE_PAGE } },
  getCallBatch: { response: { ...batch, counts } },
  pauseCallBatch: { response: { ...batch, status: "PAUSED", counts } },
  resumeCallBatch: { response: { ...batch, counts } },
  cancelCallBatch: {
    response: { ...batch, status: "CANCELLED", ended_at: UPDATED_AT, counts: { ...counts, pending: 0, cancelled: 1 } },
  },
};

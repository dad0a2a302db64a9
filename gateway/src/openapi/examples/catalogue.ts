import type { OperationExamples } from "./example.ts";
import { CREATED_AT, NUMBER, OWNER_ID } from "./values.ts";

export const CATALOGUE_EXAMPLES: OperationExamples = {
  listProviders: {
    response: {
      llm: { OPENAI: ["gpt-4.1", "gpt-4.1-mini"] },
      tts: { OPENAI: ["gpt-4o-mini-tts", "tts-1"] },
      stt: { DEEPGRAM: ["nova-3", "nova-2"] },
      timestamp: CREATED_AT,
      // With `include=prices`.
      prices: {
        OPENAI: {
          "gpt-4.1": {
            input: 2,
            output: 8,
            cached_input: 0.5,
            source: "@pydantic/genai-prices 0.1.8",
            date: "2026-09-23",
          },
        },
      },
    },
  },
  listVoices: {
    response: {
      voices: [
        { id: "alloy", name: "Alloy", provider: "OPENAI", gender: "NEUTRAL", language: "en", preview_url: null },
      ],
      total_count: 1,
      page: 1,
      page_size: 20,
      has_more: false,
    },
  },
  listMobileNumbers: {
    response: {
      user_id: OWNER_ID,
      purchased_mobile_numbers: [{ mobile_number: NUMBER, telephony_provider: "TWILIO" }],
    },
  },
};

import { webOriginOf } from "@parley/shared/text/web-origin";
import { Type } from "@sinclair/typebox";
import { About, E164, Maybe, OneOf, strict, Text, TimeZone, Words } from "../types.ts";
import { Language } from "./models.ts";

const Message = Type.Optional(Text({ max: 1000, description: "What the agent says then." }));
const tool = <P extends Parameters<typeof Type.Object>[0]>(description: string, properties: P) =>
  Type.Optional(Type.Union([Type.Boolean(), Type.Object(properties, strict)], { description }));
const TransferNumbers = Type.Union([E164, Type.Array(E164, { minItems: 1, maxItems: 20 })], {
  description: "Number to transfer to, in E.164 form, or a list of numbers that the model chooses from.",
});
export const Tools = Type.Object(
  {
    end_call: tool("Lets the model end the conversation.", { message: Message }),
    transfer_call: Type.Optional(
      Type.Union(
        [
          Type.Literal(false),
          Type.Object(
            {
              transfer_phone_number: TransferNumbers,
              message: Message,
              mode: Type.Optional(
                OneOf(["cold", "warm"], {
                  description:
                    "`cold`: the agent leaves the call at once. `warm`: it calls the person first and connects both if they take the call. Default: `cold`.",
                }),
              ),
              briefing: Type.Optional(
                Words({
                  max: 4000,
                  description: "With `warm`: what the agent tells the person, as an instruction for its model.",
                  example: "Say who is calling and what they want.",
                }),
              ),
              hold_sound: Type.Optional(
                OneOf(["ringing", "none"], {
                  description: "With `warm`: what the user hears while waiting. Default: `ringing`.",
                }),
              ),
              accept_seconds: Type.Optional(
                Type.Integer({
                  minimum: 5,
                  maximum: 120,
                  description: "With `warm`: seconds that the person has to accept after the briefing. Default: 30.",
                }),
              ),
            },
            strict,
          ),
        ],
        {
          description: "Lets the model transfer a call, to a number that you give.",
          form: "be false, or an object with the number to transfer to: transfer_phone_number",
        },
      ),
    ),
    send_dtmf: Type.Optional(
      Type.Boolean({ description: "Lets the model press keys of the telephone, such as in a menu of a machine." }),
    ),
    schedule_call: tool("Lets the model schedule another call.", {
      timezone: Type.Optional(About(TimeZone, "IANA time zone that the caller's times are in.")),
      max_days_ahead: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 365, description: "How many days ahead a call may be." }),
      ),
    }),
    set_language: tool("Lets the model change the language.", {
      languages: Type.Optional(
        Type.Array(Language, { maxItems: 100, description: "Languages to choose from. Default: any." }),
      ),
    }),
    background_audio: tool("Plays a sound behind the agent's voice.", {
      sound: Text({
        min: 1,
        max: 200,
        description: "`office`, `cafe`, `street` or `none`; a voice runtime may know others.",
        example: "office",
      }),
      volume: Type.Number({ minimum: 0, maximum: 1, description: "Volume, 1 being the loudest." }),
    }),
    user_idle: tool("Lets the agent check on a user who says nothing.", {
      timeout_seconds: Type.Number({ minimum: 1, maximum: 600, description: "Seconds of silence before it speaks." }),
      max_reminders: Type.Integer({ minimum: 0, maximum: 10, description: "How many times it speaks." }),
      message: Message,
    }),
  },
  {
    ...strict,
    $id: "Tools",
    description:
      "Each tool is `true` (except `transfer_call`), `false`, or an object that configures it (except `send_dtmf`). A tool that you leave out is off.",
  },
);

export const CallSettings = Type.Object(
  {
    end_of_turn_silence_ms: Type.Optional(
      Type.Integer({
        minimum: 200,
        maximum: 3000,
        description:
          "Milliseconds of silence that end the user's turn, unless speech recognition detects the end itself. Default: 500.",
      }),
    ),
    apology: Type.Optional(
      Words({ max: 1000, description: "What the agent says before it ends a call that cannot continue." }),
    ),
    voicemail_message: Type.Optional(
      Words({ max: 1000, description: "The message that the agent leaves if voicemail answers its call." }),
    ),
  },
  { ...strict, $id: "CallSettings", description: "How the agent takes turns in calls." },
);

export const WhatsApp = Type.Object(
  {
    voice_replies: Type.Optional(
      Type.Boolean({ description: "Whether a voice message is answered with one. Needs `tts`. Default: false." }),
    ),
  },
  { ...strict, $id: "WhatsAppSettings", description: "How the agent behaves on WhatsApp." },
);

export const Widget = Type.Object(
  {
    title: Maybe(Text({ max: 200 }), "Title of the chat window."),
    subtitle: Maybe(Text({ max: 500 }), "Line below the title."),
    avatar_url: Maybe(Text({ max: 2048 }), "Address of the agent's picture."),
    primary_color: Maybe(
      Text({ pattern: "^#[0-9A-Fa-f]{6}$", form: "be a color such as #1A2B3C" }),
      "Main color, such as #1A2B3C.",
    ),
    position: Maybe(OneOf(["bottom-right", "bottom-left"] as const), "Corner of the page where the widget appears."),
    greeting: Maybe(Text({ max: 1000 }), "Text shown before the first message."),
    placeholder: Maybe(Text({ max: 200 }), "Text in the empty message field."),
    suggested_messages: Maybe(
      Type.Array(Words({ max: 200 }), { maxItems: 5 }),
      "Messages that a visitor can send with one click.",
    ),
    show_sources: Maybe(
      Type.Boolean(),
      "Whether visitors see the names of the documents that a reply is from. Default: false.",
    ),
    allowed_origins: Maybe(
      Type.Array(
        Text({
          max: 300,
          check: (text) => webOriginOf(text) !== null,
          form: "be the origin of web pages, such as https://shop.example, without a path",
        }),
        { maxItems: 100 },
      ),
      "Origins of the pages that may show the widget, such as https://shop.example.",
    ),
  },
  { $id: "WidgetConfig", description: "Look of the chat widget." },
);

import { createSealer } from "@parley/shared/sealing";
import type { Channel, ChannelContext } from "../channel.ts";
import type { WidgetContext } from "./context.ts";
import { countMessage } from "./rpc/count-message.ts";
import { createToken } from "./rpc/create-token.ts";
import { openToken } from "./rpc/open-token.ts";
import { widgetTokens } from "./token.ts";
import type { WidgetConfig } from "./variables.ts";

/** Chats of websites' visitors. They wait for each reply, so the gateway runs their turns, and they have no threads. */
export function widget(config: WidgetConfig, ctx: ChannelContext): Channel {
  const own: WidgetContext = {
    ...ctx,
    tokens: widgetTokens(createSealer(config.PARLEY_TOKEN_KEY)),
    messagesPerDay: config.PARLEY_WIDGET_MESSAGES_PER_DAY,
    messagesPerAddress: config.PARLEY_WIDGET_MESSAGES_PER_ADDRESS,
  };
  return {
    handlers: {
      createWidgetToken: createToken(own),
      openWidgetToken: openToken(own),
      countWidgetMessage: countMessage(own),
    },
  };
}

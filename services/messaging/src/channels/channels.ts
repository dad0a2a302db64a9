import type { ConfigOf } from "@parley/shared/config";
import type { Channel, ChannelContext } from "./channel.ts";
import { WHATSAPP_VARIABLES } from "./whatsapp/variables.ts";
import { whatsApp } from "./whatsapp/whatsapp.ts";
import { WIDGET_VARIABLES } from "./widget/variables.ts";
import { widget } from "./widget/widget.ts";

// A channel has a row in both.

/** The environment variables of all channels. */
export const CHANNEL_VARIABLES = { ...WHATSAPP_VARIABLES, ...WIDGET_VARIABLES };

const CHANNELS = [whatsApp, widget];

export function openChannels(config: ConfigOf<typeof CHANNEL_VARIABLES>, ctx: ChannelContext): Channel[] {
  return CHANNELS.map((open) => open(config, ctx));
}

/**
 * A generated board with answers of Prometheus, in the grid of Grafana. `window.show({board, answers, ...})` is called by shoot.ts; it asks
 * nothing itself.
 */
import { createTheme, dateTime, EventBusSrv, ThemeContext } from '@grafana/data';
import { GlobalStyles, PanelChrome, PanelContextProvider } from '@grafana/ui';
import { createRoot } from 'react-dom/client';
import { framesOf } from './frames.js';
import { Drawn } from './panels.jsx';

const WIDTH = 1600;
const GAP = 8;
const CELL = 30;
const theme = createTheme({ colors: { mode: 'dark' } });
const bus = new EventBusSrv();
const context = { eventBus: bus, eventsScope: '__global_', sync: () => 0, canAddAnnotations: () => false };

const at = ({ x, y, w, h }) => ({
  position: 'absolute',
  left: (x * (WIDTH + GAP)) / 24,
  top: y * (CELL + GAP),
  width: (w * (WIDTH + GAP)) / 24 - GAP,
  height: h * (CELL + GAP) - GAP,
});

const Heading = ({ panel }) => (
  <div style={{ ...at(panel.gridPos), fontWeight: 500, fontSize: 16, lineHeight: '30px' }}>
    {panel.collapsed ? '▸' : '▾'} {panel.title}
    {panel.collapsed ? (
      <span style={{ opacity: 0.6 }}>
        {' '}
        ({panel.panels.length} {panel.panels.length === 1 ? 'panel' : 'panels'})
      </span>
    ) : null}
  </div>
);

function Board({ board, drawn, timeRange, note }) {
  const bottom = Math.max(...board.panels.map(({ gridPos: { y, h } }) => y + h));
  return (
    <div
      id="board"
      style={{
        width: WIDTH + 32,
        padding: 16,
        background: theme.colors.background.canvas,
        color: theme.colors.text.primary,
      }}
    >
      <div style={{ display: 'flex', justifyContent: 'space-between', alignItems: 'baseline', marginBottom: 12 }}>
        <span style={{ fontSize: 20, fontWeight: 500 }}>{board.title}</span>
        <span style={{ opacity: 0.7 }}>{note}</span>
      </div>
      <div style={{ position: 'relative', height: bottom * (CELL + GAP) }}>
        {board.panels.map((panel) => {
          if (panel.type === 'row') return <Heading key={panel.id} panel={panel} />;
          const place = at(panel.gridPos);
          return (
            <div key={panel.id} style={place}>
              <PanelChrome
                title={panel.title}
                description={panel.description}
                width={place.width}
                height={place.height}
              >
                {(width, height) => (
                  <Drawn {...{ panel, width, height, timeRange, theme }} data={drawn.get(panel.id)} />
                )}
              </PanelChrome>
            </div>
          );
        })}
      </div>
    </div>
  );
}

const root = createRoot(document.getElementById('root'));

window.show = async ({ board, answers, from, to, step, note }) => {
  const drawn = new Map();
  for (const panel of board.panels)
    if (panel.type !== 'row') drawn.set(panel.id, await framesOf(panel, answers[panel.id], { step, theme }));
  const [begin, end] = [dateTime(from * 1000), dateTime(to * 1000)];
  const timeRange = { from: begin, to: end, raw: { from: begin, to: end } };
  root.render(
    <ThemeContext.Provider value={theme}>
      <GlobalStyles />
      <PanelContextProvider value={context}>
        <Board key={board.uid} {...{ board, drawn, timeRange, note }} />
      </PanelContextProvider>
    </ThemeContext.Provider>,
  );
};
await document.fonts.load('12px Inter');
window.ready = true;

// An API for bench/against_gateways: OpenAI's chat completions with a fixed text at once or, if the prompt says so, after some
// time with the times at which it had the request and sent the answer. A piece of a paced stream is the time at which it was sent
// (all CLOCK_MONOTONIC, ns).
//   node gateways_upstream.mjs            prints its port
import http from 'node:http';

const usage = {prompt_tokens: 12, completion_tokens: 2, total_tokens: 14};
const base = {id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm'};
const answer = (content) => JSON.stringify({...base, usage, choices: [{index: 0, finish_reason: 'stop',
  message: {role: 'assistant', content}}]});
const whole = answer('Hello.');
const frame = (delta, more = {}) => 'data: ' + JSON.stringify({...base, object: 'chat.completion.chunk',
  choices: [{index: 0, delta, finish_reason: null, ...more}]}) + '\n\n';
const end = frame({}, {finish_reason: 'stop'}) +
  'data: ' + JSON.stringify({...base, object: 'chat.completion.chunk', choices: [], usage}) + '\n\ndata: [DONE]\n\n';
const streamed = (content) => frame({role: 'assistant', content}) + end;
const short = streamed('Hello.');

function pace(response, chunks, ms) {
  let sent = 0;
  const timer = setInterval(() => {
    if (sent++ < chunks) return response.write(frame({content: process.hrtime.bigint() + ' '}));
    clearInterval(timer);
    response.end(end);
  }, ms);
  response.on('close', () => clearInterval(timer));
}

const server = http.createServer((request, response) => {
  let body = '';
  request.on('data', (piece) => { body += piece; });
  request.on('end', () => {
    const had = process.hrtime.bigint();
    const paced = /pace (\d+) x (\d+) ms/.exec(body);
    const isStream = /"stream"\s*:\s*true/.test(body);
    response.setHeader('Content-Type', isStream ? 'text/event-stream' : 'application/json');
    if (isStream && paced) return pace(response, Number(paced[1]), Number(paced[2]));
    const wait = /wait (\d+) to (\d+) ms/.exec(body);  // whole milliseconds, each as likely as another
    const ms = wait && Number(wait[1]) + Math.floor(Math.random() * (Number(wait[2]) - Number(wait[1]) + 1));
    const timed = () => (isStream ? streamed : answer)(`${had} ${process.hrtime.bigint()}`);
    if (wait) setTimeout(() => response.end(timed()), ms);
    else response.end(isStream ? short : whole);
  });
});
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', () => console.log(server.address().port));

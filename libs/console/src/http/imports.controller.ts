import {
  type ArgumentsHost,
  BadRequestException,
  Catch,
  Controller,
  type ExceptionFilter,
  Get,
  type HttpException,
  NotFoundException,
  PayloadTooLargeException,
  Post,
  Res,
  ServiceUnavailableException,
  UploadedFile,
  UseFilters,
  UseInterceptors,
} from '@nestjs/common';
import { SOURCE_NAME_RULE, sourceName } from '#libs/kernel';
import { FORMATS, HIDE_LIMIT_RULE, ImportRuns, parseHideLimit } from '#libs/inventory/operators';
import { FileInterceptor } from '@nestjs/platform-express';
import type { Response } from 'express';
import type { UploadOptions } from './import-processes';
import { AnotherFile, MOST_BYTES, UploadFiles } from '../system/upload-files.system';
import { Access, Sent, type SentTo } from './access.decorator';
import { FairShare } from './fair-share';
import { Names, authorText } from './names';
import { sendPage } from './page';
import { idOf } from './path-id';
import { type Refused, type Typed, orShowAgain, readFields, refuseFields } from './read-fields';
import { MAPS, UploadDto } from './upload.dto';
import { type StoredFile, Uploads, isUnderWay } from './uploads';

/** A field of the form is a short text, whose name has no brackets. */
const FORM_LIMITS = { fileSize: MOST_BYTES, parts: 21, fieldSize: 2_000, fieldNameSize: 100, fieldNestingDepth: 0 };
const REFRESH_SECONDS = 2;
const LATEST_RUNS = 100;
/** A refused import may have merged batches before. Its record counts them. */
const TITLE = {
  ...{ trying: 'Trying', tried: 'Dry run of' },
  ...{ importing: 'Importing', imported: 'Imported', refused: 'Ended:' },
};

const showForm = (response: Response, content: Partial<Refused>): void =>
  sendPage(response, 'uploadForm', { title: 'Import a file', maps: MAPS, formats: FORMATS, ...content });

/** Shows the form again for a file that is too long, has no place now or no name to read. Fields before it were read. */
@Catch(BadRequestException, PayloadTooLargeException, ServiceUnavailableException, AnotherFile)
class FileRefused implements ExceptionFilter<HttpException> {
  catch(error: HttpException, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    const status = error.getStatus();
    const why = status === 413 ? 'The file is longer than 100 MB.' : error.message;
    const file = status === 400 ? 'The form cannot be read. Rename the file if its name has unusual signs.' : why;
    if (!response.destroyed) showForm(response, { status, errors: { file }, typed: response.req.body as Typed });
  }
}

/**
 * Shows imports, and lets administrators import a file. The token of the form stands in its address, so that the guard has
 * checked it before a byte of the file is stored.
 */
@Controller('imports')
@Access('admin')
export class ImportsController {
  constructor(
    private readonly uploads: Uploads,
    private readonly files: UploadFiles,
    private readonly runs: ImportRuns,
    private readonly names: Names,
    private readonly share: FairShare,
  ) {}

  @Get()
  @Access('viewer')
  async list(@Sent() { me: { workspaceId } }: SentTo, @Res() response: Response): Promise<void> {
    const found = await this.runs.latest({ workspaceId, source: null }, LATEST_RUNS + 1);
    const runs = found.slice(0, LATEST_RUNS).map(({ run }) => run);
    const hasMore = found.length > LATEST_RUNS;
    sendPage(response, 'imports', { title: 'Imports', runs, hasMore, upload: this.uploads.of(workspaceId) });
  }

  /** What was typed stays until it was imported. */
  @Get('new')
  open(@Sent() { me }: SentTo, @Res() response: Response): void {
    const last = this.uploads.of(me.workspaceId);
    showForm(response, { typed: last && last.state !== 'imported' ? last.typed : {} });
  }

  @Post()
  @UseFilters(FileRefused)
  @UseInterceptors(FileInterceptor('file', { limits: FORM_LIMITS }))
  async upload(
    @Sent() { me, admit, body }: SentTo,
    @UploadedFile() file: StoredFile | undefined,
    @Res() response: Response,
  ): Promise<void> {
    const begin = async (): Promise<void> => {
      try {
        // The right may have ended while the file came.
        await admit();
        const options = await this.read(body);
        if (!file) return refuseFields({ file: 'Choose a file.' });
        const { id } = this.uploads.begin(me, file, options, body);
        response.redirect(303, `/imports/uploads/${id}`);
      } catch (error) {
        if (file) this.files.remove(file.path);
        throw error;
      }
    };
    // No browser keeps which file was chosen.
    await orShowAgain(body, begin, (refused) =>
      showForm(response, { ...refused, errors: { file: 'Choose the file again.', ...refused.errors } }),
    );
  }

  @Get('uploads/:id')
  showUpload(@Sent() { me, id }: SentTo<'id'>, @Res() response: Response): void {
    const upload = this.uploads.find(me, id);
    if (isUnderWay(upload)) response.setHeader('Refresh', String(REFRESH_SECONDS));
    const { bytesRead = 0, bytesTotal = null, read = 0 } = upload.progress ?? {};
    const percent = bytesTotal ? Math.floor((bytesRead * 100) / bytesTotal) : 0;
    const title = `${TITLE[upload.state]} ${upload.name}`;
    sendPage(response, 'upload', { title, upload, isUnderWay: isUnderWay(upload), percent, read });
  }

  @Post('uploads/:id/import')
  async import(@Sent() { me, id }: SentTo<'id'>, @Res() response: Response): Promise<void> {
    await this.share.charge(response, 'import');
    this.uploads.import(me, this.uploads.find(me, id));
    response.redirect(303, `/imports/uploads/${id}`);
  }

  @Get('uploads/:id/failed-records')
  failedRecords(@Sent() { me, id }: SentTo<'id'>, @Res() response: Response): void {
    const upload = this.uploads.find(me, id);
    if (upload.failedKept === 0) throw new NotFoundException();
    const path = this.files.failedRecordsOf(upload.path);
    // The directory of temporary files may have a dot in its path. A browser is to see that a file was cut.
    const headers = { Connection: 'close' };
    const options = { cacheControl: false, lastModified: false, dotfiles: 'allow', headers } as const;
    response.type('application/x-ndjson').download(path, 'failed-records.ndjson', options);
  }

  /** After the page that begins an upload, whose address it would take for an id. */
  @Get(':id')
  @Access('viewer')
  async show(@Sent() { me: { workspaceId }, id }: SentTo<'id'>, @Res() response: Response): Promise<void> {
    const found = await this.runs.find(idOf(id), workspaceId);
    if (!found) throw new NotFoundException();
    const { run, errors: errorLines, warnings } = found;
    const who = authorText(run.who, await this.names.of(workspaceId, [run.who]));
    sendPage(response, 'import', { title: `Import of ${run.source}`, run: { ...run, who }, errorLines, warnings });
  }

  private async read(body: Typed): Promise<UploadOptions> {
    const fields = await readFields(UploadDto, body);
    const { source, map, format, missing, hideAtMost, createTagKeys = null } = fields;
    const limit = hideAtMost === undefined ? null : parseHideLimit(hideAtMost);
    refuseFields({
      source: sourceName(source) === null && SOURCE_NAME_RULE,
      format: format === 'json' && map === undefined && 'A JSON document needs a map.',
      hideAtMost:
        hideAtMost !== undefined &&
        (limit === null ? HIDE_LIMIT_RULE : missing === 'keep' && 'It needs "hide" as the answer above.'),
    });
    return { ...fields, createTagKeys, hideAtMost: limit, map: map ?? null };
  }
}

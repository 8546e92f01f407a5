const words = (text: string): string[] => text.split(', ');

/** Words for the demo inventory. */
export const GIVEN_NAMES = words(
  'Ada, Aïcha, Alan, Bao, Björn, Carmen, Chidi, Dalia, Edsger, Emeka, Farah, Grace, Hedy, Ines, Jürgen, Kenji, ' +
    'Lena, Łukasz, Mei, Nadia, Olu, Priya, Quentin, Rosa, Søren, Tariq, Uma, Vera, Wei, Ximena, Yusuf, Zoë',
);
export const FAMILY_NAMES = words(
  'Okafor, Núñez, Lindqvist, Tanaka, Haddad, Kowalska, Silva, Novak, Müller, Papadopoulos, O’Brien, Nguyen, ' +
    'Achebe, Fischer, Rossi, Çelik, Dubois, Ivanova, Kim, García, Hansen, Singh, Mbeki, Li',
);
export const TEAMS = words('payments, identity, search, growth, platform, billing, mobile, research, support');
export const ENVIRONMENTS = ['prod', 'staging', 'dev', 'sandbox'];
export const REGIONS = words(
  'eu-west-1, eu-central-1, us-east-1, us-west-2, ap-southeast-2, sa-east-1, europe-west4, us-central1, ' +
    'asia-northeast1, westeurope, northeurope, eastus2',
);
export const OPERATING_SYSTEMS: readonly (readonly [string, readonly string[]])[] = [
  ['macOS', ['13.6', '14.7', '15.1', '15.2']],
  ['Windows', ['10 22H2', '11 23H2', '11 24H2']],
  ['Ubuntu', ['22.04', '24.04']],
  ['Fedora', ['41', '42']],
];
export const INFORMATION = words(
  'Patient records, Payroll, Customer contracts, Support tickets, Access logs, Risk register, Source code, ' +
    'Board minutes, Marketing contacts, Incident reports',
);
export const CUSTOM = words(
  'Badge printer, Server room key, Safe, Lab freezer, Company van, Backup tapes, Video door bell, ' + 'Label printer',
);
export const CLOUD_RESOURCES: readonly (readonly [string, string, string])[] = [
  ['CLOUD_AUTOSCALE_GROUPS', 'autoscaling', 'asg'],
  ['CLOUD_COMPUTE_INSTANCE', 'ec2', 'vm'],
  ['CLOUD_CONTAINER_REPOSITORY', 'ecr', 'images'],
  ['CLOUD_DATA_WAREHOUSE', 'redshift', 'warehouse'],
  ['CLOUD_LOAD_BALANCER', 'elasticloadbalancing', 'lb'],
  ['CLOUD_NO_SQL_DATABASE', 'dynamodb', 'table'],
  ['CLOUD_PAAS_APPS', 'elasticbeanstalk', 'app'],
  ['CLOUD_QUEUE', 'sqs', 'queue'],
  ['CLOUD_RELATIONAL_DATABASE', 'rds', 'db'],
  ['CLOUD_STORAGE_BUCKET', 's3', 'bucket'],
  ['CLOUD_OTHER', 'sns', 'topic'],
];
/** Names of a type in AWS Config and Azure Resource Graph. */
export const CLOUD_TYPES: Readonly<Record<string, { readonly aws: string; readonly azure: string }>> = {
  CLOUD_AUTOSCALE_GROUPS: {
    aws: 'AWS::AutoScaling::AutoScalingGroup',
    azure: 'microsoft.compute/virtualmachinescalesets',
  },
  CLOUD_COMPUTE_INSTANCE: { aws: 'AWS::EC2::Instance', azure: 'microsoft.compute/virtualmachines' },
  CLOUD_CONTAINER_REPOSITORY: { aws: 'AWS::ECR::Repository', azure: 'microsoft.containerregistry/registries' },
  CLOUD_DATA_WAREHOUSE: { aws: 'AWS::Redshift::Cluster', azure: 'microsoft.synapse/workspaces' },
  CLOUD_LOAD_BALANCER: { aws: 'AWS::ElasticLoadBalancingV2::LoadBalancer', azure: 'microsoft.network/loadbalancers' },
  CLOUD_NO_SQL_DATABASE: { aws: 'AWS::DynamoDB::Table', azure: 'microsoft.documentdb/databaseaccounts' },
  CLOUD_PAAS_APPS: { aws: 'AWS::ElasticBeanstalk::Environment', azure: 'microsoft.web/sites' },
  CLOUD_QUEUE: { aws: 'AWS::SQS::Queue', azure: 'microsoft.servicebus/namespaces' },
  CLOUD_RELATIONAL_DATABASE: { aws: 'AWS::RDS::DBInstance', azure: 'microsoft.sql/servers/databases' },
  CLOUD_STORAGE_BUCKET: { aws: 'AWS::S3::Bucket', azure: 'microsoft.storage/storageaccounts' },
  CLOUD_OTHER: { aws: 'AWS::SNS::Topic', azure: 'microsoft.network/publicipaddresses' },
};
